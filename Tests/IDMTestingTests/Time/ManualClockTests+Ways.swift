import IDMCore
import IDMTesting
import TestSupport
import Testing

/// Tests of tasks that return to the main actor.
extension ManualClockTests {
    @Test("A clock tracks a retry that yields")
    @MainActor
    func retryOnItsWay() async throws {
        try await TestScope.run {
            let answers = (0..<17).map { $0 < 16 ? Result<Int, any Error>.failure(Trouble.first) : .success(1) }
            let provider = StubDataProvider<Int, Int>(answers: answers).retry(16)
            let known = try await heldWays(knownTo: ManualClock()) { _ = try await provider.request(1) }
            #expect(!known.isEmpty && !known.contains(false))
        }
    }

    @Test("A group without requests takes no turn", arguments: [false, true])
    @MainActor
    func unaskedMembers(isCancelled: Bool) async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        try await TestScope.run {
            let others = Observed(0)
            let failing = ClosureDataProvider<Int, Int> { _ in throw Trouble.first }
            let other = ClosureDataProvider<Int, Int> { input in
                others.change { $0 += 1 }
                return input
            }
            let known = try await heldWays(knownTo: ManualClock()) {
                if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
                do {
                    _ = try await (failing >><< other >><< other).request((1, 2, 3))
                    Issue.record("It has answered.")
                } catch {
                    #expect(isCancelled ? error is CancellationError : error as? Trouble == .first)
                }
            }
            #expect(known == [])
            #expect(others.value == 0)
        }
    }

    /// A provider that waits for several requests.
    enum Several: CaseIterable, Sendable {
        case group, collecting, each, eachAfterEach

        /// Asks twice, and answers to what comes of it when the test lets it.
        func request(_ provider: ControlledDataProvider<Int, Int>) async throws {
            switch self {
            case .group: _ = try await (provider >><< provider).request((1, 2))
            case .collecting: _ = try await (provider >><< provider).collectingResults().request((1, 2))
            case .each: _ = try await provider.each().request([1, 2])
            case .eachAfterEach: _ = try await provider.each(limit: 1).request([1, 2])
            }
        }
    }

    /// The end of the requests.
    enum Ending: CaseIterable, Sendable {
        case answers, firstFails, lastFails
    }

    @Test("A clock tracks the return from several requests", arguments: Several.allCases, Ending.allCases)
    @MainActor
    func severalOnTheirWay(several: Several, ending: Ending) async throws {
        try await TestScope.run {
            let (clock, provider) = (ManualClock(), ControlledDataProvider<Int, Int>(reactsToCancel: false))
            let passed = Observed(0)
            let answering = Task {
                let first = try await provider.waitForRequest()
                await clock.rest()
                let count = passed.value
                if ending == .firstFails { first.fail(Trouble.first) } else { first.answer(1) }
                if several == .eachAfterEach && ending == .firstFails { return }
                // Once the awaiting task waits for the next end. With one request at a time it waits for a single one.
                if several != .eachAfterEach { try await passed.wait { $0 > count } }
                let second = try await provider.waitForRequest()
                await clock.rest()
                if ending == .lastFails { second.fail(Trouble.first) } else { second.answer(2) }
            }
            let known = try await heldWays(knownTo: clock, passed: passed) {
                do {
                    try await several.request(provider)
                    #expect(several == .collecting || ending == .answers)
                } catch {
                    #expect(several != .collecting && ending != .answers)
                }
            }
            try await answering.value
            // A group that comes back to go on waiting need not be known of.
            if [.group, .collecting, .each].contains(several) {
                #expect(known.count == 2 && known.last == true)
            } else {
                #expect(!known.isEmpty && !known.contains(false))
            }
            await clock.rest()
        }
    }
}
