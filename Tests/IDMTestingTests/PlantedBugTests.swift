import IDMCore
import IDMTesting
import TestSupport
import Testing

/// Bugs that a user of the library may write, each found by the tool that the documentation names for it.
@Suite("A planted bug", .timeLimit(.ample))
struct PlantedBugTests {
    struct Bug: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// A part of the message of the failure.
        let message: String
        let test: @Sendable () async throws -> Void

        init(_ name: String, _ message: String, _ test: @escaping @Sendable () async throws -> Void) {
            (testDescription, self.message, self.test) = (name, message, test)
        }
    }

    private static let limits = DataProviderContract.Limits(
        answer: .milliseconds(200), cancel: .milliseconds(50), beforeCancel: .milliseconds(1))

    static let bugs: [Bug] = [
        Bug("a lost cancel", "reactsToCancel: a request whose task is cancelled before it should end, and it did not") {
            try await DataProviderContract.check(input: 1, limits: limits, rules: [.reactsToCancel]) { DeafDownload() }
        },
        Bug("a double answer", "answersOnce: a request should end once") {
            try await DataProviderContract.check(input: 1) { TwiceCalling() }
        },
        Bug("a missing answer", "it ended with neither a value nor an error") {
            try await DataProviderContract.check(input: 1) { ForgetfulCalling() }
        },
        Bug("mixed-up answers", "answersConcurrentRequests: each of 20 requests at once should get its own answer") {
            try await DataProviderContract.check(inputs: 1, 2) { SharedVariable() }
        },
        Bug("a provider that keeps itself", "isReleased: nothing should hold the provider after its requests") {
            try await DataProviderContract.check(input: 1) { SelfKeeping() }
        },
        Bug("a leaked screen", "Expected Screen to be released") {
            let screen = LeakTracker().track(Screen())
            screen.me.change { $0 = screen }
        },
        Bug("a superseded value that is shown", "seed") {
            try await explore(seeds: 0..<200) { _ in
                let shown = Observed(0)
                let users = Integrator(SlowEcho())
                let older = users.prepareCall(1).onSuccess { value in shown.change { $0 = value } }.call()
                let newer = users.prepareCall(2).onSuccess { value in shown.change { $0 = value } }.call()
                for task in [older, newer] { await task.finish() }
                guard shown.value == 2 else { throw Trouble.first }
            }
        },
        Bug("a race of two writers", "seed") {
            try await explore(seeds: 0..<200) { _ in
                let counter = Counter()
                async let first: Void = counter.add()
                async let second: Void = counter.add()
                _ = await (first, second)
                guard await counter.value == 2 else { throw Trouble.first }
            }
        },
        Bug("a deadlock", "nothing was left that could run") {
            try await explore(seeds: 0..<200, patience: .zero) { _ in
                let (left, right) = (TestGate(), TestGate())
                async let first: Void = left.pass()
                async let second: Void = right.waitForTasks(1)
                try await second
                try await first
            }
        },
        Bug("a request that the test forgets", "Expected an answer to the request with 1, and none came.") {
            let provider = ControlledDataProvider<Int, Int>()
            forgotten.change { $0 = Task { try await provider.request(1) } }
            _ = try await provider.waitForRequest()
        },
        Bug("a request that is never made", "Expected a request with 2, and one with 1 came within") {
            let provider = ControlledDataProvider<Int, Int>()
            let task = Integrator(provider).prepareCall(1).call()
            try await provider.waitForRequest(1).answer(1)
            await task.finish()
            _ = try await provider.waitForRequest(2, within: .zero)
        },
        Bug("an unexpected retry", "Expected began, succeeded(1), and began, retried(1, after: first) came.") {
            let recorder = IntegrationRecorder<Int>()
            let stub = StubDataProvider<Int, Int>(answers: [.failure(Trouble.first), .success(1)])
            await recorder.call(Integrator(stub).prepareCall(1).retry(1)).finish()
            try await recorder.waitForEvents(.began, .succeeded(1))
        },
        Bug("a stub that isn't asked", "The stub expected a request, and none came.") {
            _ = StubDataProvider<Int, Int>(1)
        },
    ]

    private static let forgotten = Observed<Task<Int, any Error>?>(nil)

    @Test("A planted bug is found by the documented tool", arguments: bugs)
    func found(bug: Bug) async throws {
        let messages: [String]
        do {
            messages = try await TestScope.failures { try await bug.test() }.map(\.message)
        } catch let failure as ExplorationFailure {
            messages = [failure.description]
        }

        #expect(messages.contains { $0.contains(bug.message) }, "\(messages)")
        // The cases run at the same time.
        if bug.message.hasPrefix("Expected an answer") { Self.forgotten.value?.cancel() }
    }
}

// MARK: Code with bugs

private struct DeafDownload: DataProvider {
    func request(_ input: Int) async throws -> Int {
        await Signal().waitIgnoringCancel()
        return input
    }
}

private struct TwiceCalling: CallbackDataProvider {
    func request(_ input: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) -> CancelHandler? {
        for _ in 0..<2 { completion(.success(input)) }
        return nil
    }
}

private struct ForgetfulCalling: CallbackDataProvider {
    func request(_ input: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) -> CancelHandler? {
        nil
    }
}

private final class SharedVariable: DataProvider {
    private let input = Observed(0)
    private let count = Observed(0)

    func request(_ input: Int) async throws -> Int {
        self.input.change { $0 = input }
        if count.countOne() > 2 { try await count.wait { $0 >= 20 } }
        return self.input.value
    }
}

private final class SelfKeeping: DataProvider {
    private let me = Observed<SelfKeeping?>(nil)

    func request(_ input: Int) async throws -> Int {
        me.change { $0 = self }
        return input
    }
}

private final class Screen: Sendable {
    let me = Observed<Screen?>(nil)
}

private struct SlowEcho: DataProvider {
    func request(_ input: Int) async throws -> Int {
        await withTaskGroup(of: Void.self) { group in group.addTask {} }
        return input
    }
}

private actor Counter {
    private(set) var value = 0

    func add() async {
        let before = value
        await withTaskGroup(of: Void.self) { group in group.addTask {} }
        value = before + 1
    }
}
