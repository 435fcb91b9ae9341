import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("Rule 12: call() decides the admission, and the call inherits from its caller", .timeLimit(.ample))
struct Rule12AdmissionTests {
    @TaskLocal private static var user = "nobody"

    private let provider = ControlledDataProvider<Int, Int>()
    private let log = Log()

    // MARK: Admission

    @Test(arguments: [
        (ExecutingType.only, ["success 0", "cancel ignored", "cancel ignored"]),
        (.latest(debounce: .seconds(1)), ["cancel superseded", "cancel superseded", "cancel cancelled"]),
    ])
    func `the place is taken when call() returns`(type: ExecutingType, ends: [String]) async throws {
        let integrator = Integrator(provider, executing: type, clock: ManualClock())
        let tasks = Self.callFromSynchronousCode(integrator, log)
        if type == .only { try await provider.waitForRequest().answer(0) } else { tasks[2].cancel() }
        for task in tasks { await task.finish() }

        #expect((0..<3).map { log.entries(of: "\($0)").filter { $0.contains(" ") } } == ends.map { [$0] })
    }

    private static func callFromSynchronousCode(
        _ integrator: Integrator<Int, Int>, _ log: Log
    ) -> [IntegrationTask<Int>] {
        (0..<3).map { integrator.prepareCall($0).recorded(in: log, as: "\($0)").call() }
    }

    @Test func `the order of a queue is the order of call() on busy actors`() async throws {
        let (stage, other) = (Stage(), Stage())
        let integrator = Integrator(Echo<Int>(), executing: .queue)
        let (first, second) = (integrator.prepareCall(1), integrator.prepareCall(2))
        let one = stage.here { stage in first.onBeginning { [log] in log.add("1") }.call(isolation: stage) }
        let two = other.here { other in second.onBeginning { [log] in log.add("2") }.call(isolation: other) }
        #expect(log.entries == [])

        other.executor.open()
        stage.executor.open()
        await one.finish()
        await two.finish()

        #expect(log.entries == ["1", "2"])
    }

    // MARK: Inheritance

    /// Answers with the task-local and the priority of its task.
    private struct Context: DataProvider {
        func request(_ input: Int) async throws -> String {
            "\(Rule12AdmissionTests.user) \(Task.basePriority == .background ? "background" : "other")"
        }
    }

    @Test(arguments: ExecutingType.several)
    func `the provider has the caller's task-locals and priority`(type: ExecutingType) async {
        let integrator = Integrator(Context(), executing: type)
        let calling = Task(priority: .background) { Self.$user.withValue("ann") { integrator.prepareCall(1).call() } }

        #expect(await calling.value.outcome == .success("ann background"))
    }

    @Test func `a waiting call keeps its caller's task-locals and priority`() async throws {
        let started = Signal()
        let integrator = Integrator(
            ClosureDataProvider<Int, String> { [provider] input in
                started.open()
                _ = try await provider.request(input)
                return try await Context().request(input)
            }, executing: .queue)
        let first = Self.$user.withValue("ann") { integrator.prepareCall(1).call() }
        try await started.wait()
        let second = await Task(priority: .background) {
            Self.$user.withValue("bob") { integrator.prepareCall(2).call() }
        }.value
        let request = try await provider.waitForRequest()

        Self.$user.withValue("eve") { request.answer(1) }
        try await provider.waitForRequest().answer(2)

        #expect(await first.outcome.value?.hasPrefix("ann") == true)
        #expect(await second.outcome == .success("bob background"))
    }

    @Test(arguments: CallerPlace.allCases)
    func `handlers have the caller's task-locals`(place: CallerPlace) async throws {
        try await place.run { isolation in
            let call = Integrator(provider).prepareCall(1)
                .onBeginning { log.add("begin \(Self.user)") }
                .onSuccess { _ in log.add("success \(Self.user)") }
                .onCompletion { log.add("completion \(Self.user)") }
            let task = Self.$user.withValue("ann") { call.call(isolation: isolation) }
            try await Self.$user.withValue("eve") { try await provider.waitForRequest() }.answer(1)
            await task.finish()
        }

        #expect(log.entries == ["begin ann", "success ann", "completion ann"])
    }
}
