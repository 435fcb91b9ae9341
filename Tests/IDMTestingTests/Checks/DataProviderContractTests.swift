import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("The provider contract", .timeLimit(.ample))
struct DataProviderContractTests {
    typealias Check = @Sendable () async throws -> [DataProviderContract.Violation]

    private static func check(
        limits: DataProviderContract.Limits = .init(),
        rules: Set<DataProviderContract.Rule> = Set(DataProviderContract.Rule.allCases),
        _ make: @escaping @Sendable () -> some DataProvider<Int, Int>
    ) -> Check {
        { try await DataProviderContract.check(inputs: 1, 2, limits: limits, rules: rules) { make() } }
    }

    /// Limits for providers that never do what is expected.
    private static let short = DataProviderContract.Limits(
        answer: .milliseconds(200), cancel: .milliseconds(50), beforeCancel: .milliseconds(1))

    static let sound: [(name: String, check: Check)] = [
        ("a provider without a suspension", check { Echo<Int>() }),
        ("a closure", check { ClosureDataProvider { (input: Int) in input } }),
        ("an integrator", check { Integrator(Echo<Int>()) }),
        ("a queue", check { Integrator(Echo<Int>(), executing: .queue) }),
        ("an integrator that supersedes", check { Integrator(Echo<Int>(), executing: .latest) }),
        ("a coalesced provider", check { Echo<Int>().coalesced(by: { $0 }) }),
        ("a sequence with retries", check { (Echo<Int>() >>>> Echo<Int>()).timeout(.seconds(5)).retry(2) }),
        ("a merged stream", check { Echo<Int>().merged(with: Echo<Int>()) }),
        ("a provider that fails", check { StubDataProvider<Int, Int>(failing: Trouble.first) }),
        ("an actor", check { Desk() }),
        ("a spy", check { SpyDataProvider(Echo<Int>()) }),
        ("a callback provider", check { Calling { $1(.success($0)) } }),
        ("a callback provider that cancels", check(limits: short) { CancellableCalling() }),
    ]

    @Test("A sound provider breaks no rule", arguments: sound.indices)
    func soundProvider(index: Int) async throws {
        let failures = try await TestScope.failures(failingOnLeftovers: false) {
            let violations = try await Self.sound[index].check()
            #expect(violations == [])
        }

        #expect(failures == [], "\(Self.sound[index].name)")
    }

    static let broken: [(name: String, rules: [DataProviderContract.Rule], check: Check)] = [
        ("no answer", [.answersOnce], check(limits: short) { ControlledDataProvider<Int, Int>() }),
        ("a dropped completion", [.answersOnce], check { Calling { _, _ in } }),
        (
            "two callbacks", [.answersOnce],
            check {
                Calling { input, completion in
                    completion(.success(input))
                    completion(.success(input))
                }
            }
        ),
        (
            "an end as cancelled", [.answersOnce],
            check { ClosureDataProvider { (_: Int) throws -> Int in throw CancellationError() } }
        ),
        (
            "an ignored cancel", [.reactsToCancel],
            check(limits: short, rules: [.reactsToCancel]) { ControlledDataProvider<Int, Int>(reactsToCancel: false) }
        ),
        (
            "a value after the cancel", [.reactsToCancel],
            check(limits: short, rules: [.reactsToCancel]) { AnswersCancel() }
        ),
        ("a cancel that ends all requests", [.answersConcurrentRequests], check(limits: short) { SharedFate() }),
        ("an answer of another request", [.answersConcurrentRequests], check { Mixer() }),
        ("a request that blocks the next", [.answersConcurrentRequests], check(limits: short) { OneSeat() }),
        ("a provider that keeps itself", [.isReleased], check { Immortal() }),
    ]

    @Test("A broken provider breaks the rule that it should keep", arguments: broken.indices)
    func brokenProvider(index: Int) async throws {
        let (name, rules, check) = Self.broken[index]
        let failures = try await TestScope.failures(failingOnLeftovers: false) {
            let violations = try await check()
            #expect(violations.map(\.rule) == rules, "\(name)")
        }

        #expect(failures.count == rules.count)
    }

    @Test("A violation fails at the line of the check")
    func place() async throws {
        let line = #line + 2
        let failures = try await TestScope.failures {
            try await DataProviderContract.check(input: 1) { Calling { _, _ in } }
        }

        let message =
            "Calling breaks the contract of providers, answersOnce: a request should end once, with a value or an "
            + "error, and it ended with neither a value nor an error."
        #expect(failures.map(\.summary) == ["\(line): \(message)"])
    }

    @Test("A check with chosen rules checks no further rule")
    func rules() async throws {
        #expect(try await DataProviderContract.check(input: 1, rules: [.answersOnce]) { Immortal() } == [])
    }

    @Test("A cancelled check throws CancellationError")
    func cancelled() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let check = Task { try await DataProviderContract.check(input: 1) { provider } }
        _ = try await provider.waitForRequest()
        check.cancel()

        await #expect(throws: CancellationError.self) { try await check.value }
    }

    @Test("A check with a manual clock runs in the time of that clock")
    func manualClock() async throws {
        try await TestScope.run {
            let clock = ManualClock()
            let check = Task(executorPreference: clock.executor) {
                try await DataProviderContract.check(inputs: 1, 2, limits: .init(clock: clock)) {
                    Echo<Int>().delay(.seconds(1), clock: clock)
                }
            }
            await clock.run()
            let violations = try await check.value

            #expect(violations == [])
        }
    }
}

// MARK: Providers

private actor Desk: DataProvider {
    func request(_ input: Int) async throws -> Int { input }
}

private struct Calling: CallbackDataProvider {
    typealias Completion = @Sendable (Result<Int, any Error>) -> Void
    let call: @Sendable (Int, @escaping Completion) -> Void

    func request(_ input: Int, completion: @escaping Completion) -> CancelHandler? {
        call(input, completion)
        return nil
    }
}

/// Answers in a task, which a cancel cancels.
private struct CancellableCalling: CallbackDataProvider {
    func request(_ input: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) -> CancelHandler? {
        let task = Task { completion(Task.isCancelled ? .failure(CancellationError()) : .success(input)) }
        return { task.cancel() }
    }
}

/// Answers with a value when it is cancelled.
private struct AnswersCancel: DataProvider {
    func request(_ input: Int) async throws -> Int {
        try? await Signal().wait()
        return input
    }
}

/// Answers twenty requests, and ends all later ones when one of them is cancelled.
private final class SharedFate: DataProvider {
    private let isOver = Observed(false)
    private let count = Observed(0)

    func request(_ input: Int) async throws -> Int {
        guard count.countOne() > 20 else { return input }
        do {
            try await isOver.wait { $0 }
        } catch {
            isOver.change { $0 = true }
        }
        throw CancellationError()
    }
}

/// Answers every request with the input of the latest one.
private final class Mixer: DataProvider {
    private let last = Observed(0)
    private let count = Observed(0)

    func request(_ input: Int) async throws -> Int {
        last.change { $0 = input }
        // All of twenty requests are there before one is answered.
        if count.countOne() > 2 { try await count.wait { $0 >= 20 } }
        return last.value
    }
}

/// Ends its first request only.
private final class OneSeat: DataProvider {
    private let inside = Observed(0)

    func request(_ input: Int) async throws -> Int {
        if inside.countOne() > 1 { try await Signal().wait() }
        await withTaskGroup(of: Void.self) { group in group.addTask {} }
        return input
    }
}

/// Is retained by itself.
private final class Immortal: DataProvider {
    private let me = Observed<Immortal?>(nil)

    func request(_ input: Int) async throws -> Int {
        me.change { $0 = self }
        return input
    }
}
