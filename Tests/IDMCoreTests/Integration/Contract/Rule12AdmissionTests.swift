import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("Rule 12: admission is decided inside call(), and the run inherits from its caller", .timeLimit(.ample))
struct Rule12AdmissionTests {
    @TaskLocal private static var user = "nobody"

    private let provider = ControlledDataProvider<Int, Int>()

    // MARK: AdmissionStateMachine

    @Test("Which call has the place of .only is decided when call() returns")
    func only() async throws {
        let integrator = Integrator(provider, executing: .only)
        let tasks = Self.callFromSynchronousCode(integrator)
        try await provider.waitForRequest().answer(0)
        #expect(await tasks[0].outcome == .success(0))
        #expect(await tasks[1].outcome == .cancelled(.ignored))
        #expect(await tasks[2].outcome == .cancelled(.ignored))
    }

    @Test("Which call of .latest is the newest is decided when call() returns")
    func latest() async throws {
        let integrator = Integrator(provider, executing: .latest(debounce: .seconds(1)), clock: ManualClock())
        let tasks = Self.callFromSynchronousCode(integrator)
        #expect(await tasks[0].outcome == .cancelled(.superseded))
        #expect(await tasks[1].outcome == .cancelled(.superseded))
        tasks[2].cancel()
        #expect(await tasks[2].outcome == .cancelled(.cancelled))
    }

    @Test("The order in a queue is decided when call() returns, also if the calls' tasks start in another order")
    func queue() async throws {
        let (stage, log) = (Stage(), Log())
        let integrator = Integrator(Echo<Int>(), executing: .queue)
        // Made on the stage, so that the first one's task can't run before the second call has been made elsewhere.
        let first = integrator.prepareCall(1).onBeginning { log.add("1") }
        let one = stage.here { stage in first.onBeginning {}.call(isolation: stage) }
        // Made where it would begin at once, if it had the turn.
        let other = Stage()
        let second = integrator.prepareCall(2)
        let two = other.here { other in second.onBeginning { log.add("2") }.call(isolation: other) }
        #expect(log.entries == [])
        stage.executor.open()
        other.executor.open()
        await one.finish()
        await two.finish()
        #expect(log.entries == ["1", "2"])
    }

    private static func callFromSynchronousCode(_ integrator: Integrator<Int, Int>) -> [IntegrationTask<Int>] {
        (0..<3).map { integrator.prepareCall($0).call() }
    }

    @Test("A call that was cancelled at once never asks its provider")
    func cancelledAtOnce() async {
        let integrator = Integrator(provider, executing: .queue)
        let first = integrator.prepareCall(0).call()
        let second = integrator.prepareCall(1).call()
        second.cancel()
        first.cancel()
        await first.finish()
        await second.finish()
        #expect(!provider.requests.map(\.input).contains(1))
        #expect(await second.outcome == .cancelled(.cancelled))
    }

    // MARK: What the run inherits

    /// Says what it finds.
    private struct Finding: DataProvider {
        func request(_ input: Int) async throws -> String {
            "\(Rule12AdmissionTests.user), \(Task.basePriority == .background ? "background" : "other")"
        }
    }

    @Test("The provider has the task-locals of the caller", arguments: ExecutingType.several)
    func taskLocals(type: ExecutingType) async {
        let integrator = Integrator(Finding(), executing: type)
        let task = Self.$user.withValue("ann") { integrator.prepareCall(1).call() }
        #expect(await task.outcome.value?.hasPrefix("ann") == true)
    }

    @Test("A call that waits in line has the task-locals of its caller, and not of whoever lets it start")
    func taskLocalsInLine() async throws {
        let (provider, log) = (provider, Log())
        let asking = ClosureDataProvider<Int, Int> { input in
            log.add("\(input): \(Rule12AdmissionTests.user)")
            return try await provider.request(input)
        }
        let integrator = Integrator(asking, executing: .queue)
        let first = Self.$user.withValue("ann") { integrator.prepareCall(1).call() }
        let second = Self.$user.withValue("bob") { integrator.prepareCall(2).call() }
        let request = try await provider.waitForRequest()
        Self.$user.withValue("eve") { request.answer(1) }
        try await provider.waitForRequest().answer(2)
        await first.finish()
        await second.finish()
        #expect(log.entries == ["1: ann", "2: bob"])
    }

    @Test("The handlers have the task-locals of the caller")
    @MainActor
    func handlers() async throws {
        let log = Log()
        let task = Self.$user.withValue("ann") {
            Integrator(provider).prepareCall(1)
                .onBeginning { log.add("begin \(Self.user)") }
                .onSuccess { _ in log.add("success \(Self.user)") }
                .onCompletion { log.add("completion \(Self.user)") }
                .call()
        }
        try await Self.$user.withValue("eve") { try await provider.waitForRequest() }.answer(1)
        await task.finish()
        #expect(log.entries == ["begin ann", "success ann", "completion ann"])
    }

    @Test("The task-locals reach the request of an awaited call")
    func request() async throws {
        let found = try await Self.$user.withValue("ann") { try await Integrator(Finding()).request(1) }
        #expect(found.hasPrefix("ann"))
    }

    @Test("The provider has the priority of the caller", arguments: ExecutingType.several)
    func priority(type: ExecutingType) async {
        let integrator = Integrator(Finding(), executing: type)
        let calling = Task(priority: .background) { integrator.prepareCall(1).call() }
        let task = await calling.value
        #expect(await task.outcome.value?.hasSuffix("background") == true)
    }

    @Test("A call that waits in line has the priority of its caller")
    func priorityInLine() async throws {
        let started = Signal()
        let (provider, log) = (provider, Log())
        let integrator = Integrator(
            ClosureDataProvider<Int, Int> { input in
                log.add("\(input): \(Task.basePriority == .background ? "background" : "other")")
                started.open()
                return try await provider.request(input)
            }, executing: .queue)
        let first = integrator.prepareCall(1).call()
        try await started.wait()
        let second = await Task(priority: .background) { integrator.prepareCall(2).call() }.value
        try await provider.waitForRequest().answer(1)
        try await provider.waitForRequest().answer(2)
        await first.finish()
        await second.finish()
        #expect(log.entries == ["1: other", "2: background"])
    }
}
