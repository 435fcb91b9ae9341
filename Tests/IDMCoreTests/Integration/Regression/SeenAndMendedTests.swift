import IDMCore
import IDMTesting
import TestSupport
import Testing

/// Faults that programs made with the package have met, each with the least that shows it.
@Suite("Seen and mended", .inScope, .timeLimit(.ample))
@MainActor
struct SeenAndMendedTests {
    private let log = Log()
    private let recorder = IntegrationRecorder<Int>()

    private struct Doubled: DataModel {
        let value: Int
        init(from source: Int) { value = source * 2 }
    }

    /// Answers at once, on the actor that asks.
    private struct AtOnce: CallbackDataProvider {
        func request(
            _ input: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void
        ) -> CancelHandler? {
            completion(.success(input))
            return nil
        }
    }

    @Test("A state shows a model that is made inline when load() returns, though models report their progress")
    func stateOfInlineModel() async {
        let state = IntegrationState(Integrator(Echo<Int>(), model: Doubled.self, parsing: .inline))
        let task = state.load(2)
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            #expect(!state.isLoading && state.value?.value == 4)
        }
        await task.finish()
        #expect(state.value?.value == 4)
    }

    /// Whatever is to run elsewhere runs when the test says so.
    private final class Elsewhere: TaskExecutor {
        private let jobs = Observed<(waiting: [UnownedJob], isOpen: Bool)>(([], false))

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            let isOpen = jobs.change { jobs in
                jobs.waiting.append(job)
                return jobs.isOpen
            }
            if isOpen { Task { runAll() } }
        }

        func runAll() {
            while let job = jobs.change({ $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }) {
                job.runSynchronously(on: asUnownedTaskExecutor())
            }
        }

        func open() {
            jobs.change { $0.isOpen = true }
            runAll()
        }
    }

    @Test("What reports and answers at once is delivered when call() returns, however quick other threads are")
    func reportsAtOnce() async {
        let elsewhere = Elsewhere()
        let provider = ClosureDataProvider<Int, Int> { input in
            IntegrationProgress.report(completed: 1, total: 2)
            // Another thread comes to tell of it before the answer is there.
            elsewhere.runAll()
            return input
        }
        let task = LibraryTask.$executor.withValue(elsewhere) {
            Integrator(provider).prepareCall(3).recorded(in: log).call()
        }
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            #expect(log.entries.first == "begin" && log.entries.suffix(2) == ["success 3", "completion"])
        }
        elsewhere.open()
        await task.finish()
        #expect(log.entries.count == 4)
    }

    @Test("A callback provider is asked on the caller's actor, and its answer is delivered when call() returns")
    func callbackAtOnce() async {
        let task = recorder.call(Integrator(AtOnce()).prepareCall(3))
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            recorder.expectRecorded(.began, .succeeded(3), .completed)
            await task.finish()
        } else {
            await task.finish()
            recorder.expectRecorded(.began, .succeeded(3), .completed)
        }
    }

    @Test("A job that answers when it goes, with the cancel handler that held it, meets no lock")
    func jobAnswersWhenItGoes() async throws {
        final class Job: Sendable {
            let completion: @Sendable (Result<Int, any Error>) -> Void
            init(_ completion: @escaping @Sendable (Result<Int, any Error>) -> Void) { self.completion = completion }
            func answer() { completion(.success(1)) }
            deinit { completion(.failure(DataProviderError.noAnswer)) }
        }
        struct Jobs: CallbackDataProvider {
            let jobs = Observed<@Sendable () -> Void>({})
            func request(
                _ input: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void
            ) -> CancelHandler? {
                let job = Job(completion)
                jobs.change { [weak job] in $0 = { job?.answer() } }
                return { _ = job }
            }
        }
        let jobs = Jobs()
        let task = Integrator(jobs).prepareCall(1).call()
        jobs.jobs.value()
        #expect(await task.outcome == .success(1))
    }

    @Test("Whoever joins while another waits to try again gets an answer, and not the old failure")
    func joinDuringRetry() async throws {
        let (provider, clock) = (ControlledDataProvider<Int, Int>(), ManualClock())
        let integrator = Integrator(provider, executing: .only(joining: true), clock: clock)
        let first = integrator.prepareCall(1).retry(1, delay: .constant(.seconds(1))).call()
        try await provider.waitForRequest().fail(Trouble.first)
        try await clock.waitForSleepers(1)
        let second = integrator.prepareCall(2).call()
        let request = try await provider.waitForRequest()
        #expect(request.input == 2)
        request.answer(5)
        #expect(await second.outcome == .success(5))
        await second.finish()
        await clock.advance(by: .seconds(1))
        try await provider.waitForRequest().answer(6)
        #expect(await first.outcome == .success(6))
    }

    @Test("A call hears what is below an integrator that has listeners of its own")
    func progressThroughAnotherIntegrator() async {
        struct Half: DataProvider {
            nonisolated(nonsending) func request(_ input: Int) async throws -> Int {
                IntegrationProgress.report(completed: 1, total: 2)
                return input
            }
        }
        let inner = Integrator(Half())
        inner.onProgress { [log] in log.add("inner \($0.fraction)") }
        let outer = Integrator(inner).prepareCall(1).onProgress { [log] in log.add("outer \($0.fraction)") }.call()
        await outer.finish()
        #expect(log.entries.contains("inner 0.5"))
        #expect(log.entries.contains("outer 0.5"))
    }

    @Test("The events of a call end with it, whatever is recalled after it")
    func eventsWithRecall() async {
        let (cache, server) = (Integrator(Echo<Int>()), Integrator(ControlledDataProvider<Int, Int>()))
        var events: [String] = []
        for await event in cache.prepareCall(1).thenRecall(with: server, 2).events() {
            events.append("\(event)")
        }
        #expect(events == ["began", "succeeded(1)", "completed"])
        server.cancel()
    }

    @Test("A provider that fails at once and is tried without end can be cancelled")
    func endlessRetry() async throws {
        let failing = ClosureDataProvider<Int, Int> { _ in throw Trouble.first }
        let task = Integrator(failing).prepareCall(1).retry(.max).call()
        task.cancel()
        #expect(await task.outcome == .cancelled(.cancelled))
        await task.finish()
    }

    @Test("Each makes no more requests after a cancel, though those that run ignore it")
    func eachAfterCancel() async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: false)
        let request = Task { try await provider.each(limit: 1).request([1, 2, 3]) }
        let first = try await provider.waitForRequest()
        request.cancel()
        first.answer(1)
        await #expect(throws: CancellationError.self) { try await request.value }
        #expect(provider.requestCount == 1)
    }

    @Test("Five thousand calls, each after the one before, nest nowhere")
    func longLineOfPredecessors() async {
        let integrator = Integrator(Echo<Int>())
        var call = integrator.prepareCall(0)
        for input in 1...5_000 { call = integrator.prepareCall(input).after(call) }
        #expect(await call.call().outcome == .success(5_000))
    }

    @Test("A thousand calls share one request, and each has its answer")
    func manyJoin() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: .only(joining: true))
        let tasks = (0..<1_000).map { integrator.prepareCall($0).call() }
        try await provider.waitForRequest().answer(7)
        for task in tasks { #expect(await task.outcome == .success(7)) }
        #expect(provider.requestCount == 1)
    }
}
