import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite(.timeLimit(.ample))
struct GroupDataProviderTests {
    private let first = ControlledDataProvider<Int, Int>()
    private let second = ControlledDataProvider<Int, Int>()

    @Test func `a failed group cancels its members and throws once all have ended`() async throws {
        let (log, clock, deaf) = (Log(), ManualClock(), ControlledDataProvider<Int, Int>(reactsToCancel: false))
        let task = Task(executorPreference: clock.executor) { [first] in
            defer { log.add("group") }
            return try await (first >><< deaf).request((1, 2))
        }
        let (one, two) = (try await first.waitForRequest(), try await deaf.waitForRequest())
        one.fail(Trouble.first)
        try await two.waitUntilCancelled()
        await clock.run()
        log.add("second")
        two.answer(1)

        await #expect(throws: Trouble.first) { try await task.value }
        #expect(log.entries == ["second", "group"])
    }

    @Test(arguments: 0..<50)
    func `a group throws the first failure, not the cancellations after it`(_ round: Int) async throws {
        let group = first >><< first >><< Failing(Trouble.second) >><< first

        await #expect(throws: Trouble.second) { try await group.request((1, 2, 3, 4)) }
    }

    @Test @MainActor func `a failure in the caller's turn keeps later members from being asked`() async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let later = FailingAtFirst(0)

        await #expect(throws: Trouble.first) { try await (Failing(Trouble.first) >><< later).request((1, 2)) }
        #expect(later.count == 0)
    }

    @Test(arguments: [false, true])
    func `a group of a cancelled task asks no member`(isCollecting: Bool) async throws {
        let member = FailingAtFirst(0)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            if isCollecting {
                _ = try await (member >><< member).collectingResults().request((1, 2))
            } else {
                _ = try await (member >><< member).request((1, 2))
            }
        }

        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(member.count == 0)
    }

    @Test func `a group on the left is extended unless it is grouped()`() async throws {
        let pair = Doubler() >><< Doubler()

        let flat: (Int, Int, Int) = try await (pair >><< Doubler()).request((1, 2, 3))
        let nested: ((Int, Int), Int) = try await (pair.grouped() >><< Doubler()).request(((1, 2), 3))
        let right: (Int, (Int, Int)) = try await (Doubler() >><< pair).request((1, (2, 3)))
        let one: Int = try await GroupDataProvider(Doubler()).request(1)

        #expect([flat.2, nested.0.1, nested.1, right.0, right.1.1, one] == [6, 4, 6, 2, 6, 2])
    }

    @Test func `a collecting group returns the result of every member`() async throws {
        let group = (Failing(Trouble.first) >><< first >><< Failing(CancellationError())).collectingResults()
        let task = Task { try await group.request((1, 2, 3)) }
        let request = try await first.waitForRequest()
        request.answer(5)

        let results = try await task.value

        let texts = [results.0, results.1, results.2].map { result in
            switch result {
            case .success(let value): "\(value)"
            case .failure(let error): "\(error)"
            }
        }
        #expect(texts == ["first", "5", "\(CancellationError())"] && !request.isCancelled)
    }
}
