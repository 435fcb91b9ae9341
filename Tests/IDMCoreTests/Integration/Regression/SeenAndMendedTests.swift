import IDMCore
import IDMTesting
import TestSupport
import Testing

/// Faults that programs have found in the package, each with the least code that shows it.
@Suite(.inScope, .timeLimit(.ample))
@MainActor
struct SeenAndMendedTests {
    private let log = Log()

    private struct Doubled: DataModel {
        let value: Int
        init(from source: Int) { value = source * 2 }
    }

    @Test func `a state has its inline model when load() returns`() async {
        let state = IntegrationState(Integrator(Echo<Int>(), model: Doubled.self, parsing: .inline))
        let task = state.load(2)
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            #expect(!state.isLoading && state.value?.value == 4)
        }
        await task.finish()
        #expect(state.value?.value == 4)
    }

    /// Runs its jobs when the test says so.
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

    @Test func `another thread that delivers progress does not delay the answer`() async {
        let elsewhere = Elsewhere()
        let provider = ClosureDataProvider<Int, Int> { input in
            IntegrationProgress.report(completed: 1, total: 2)
            // The pump starts on another thread before the answer.
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

    @Test func `the events of a call end before a recall`() async {
        let (cache, server) = (Integrator(Echo<Int>()), Integrator(ControlledDataProvider<Int, Int>()))
        var events: [String] = []
        for await event in cache.prepareCall(1).thenRecall(with: server, 2).events() {
            events.append("\(event)")
        }
        #expect(events == ["began", "succeeded(1)", "completed"])
        server.cancel()
    }

    @Test func `each makes no request after a cancel that its provider ignores`() async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: false)
        let request = Task { try await provider.each(limit: 1).request([1, 2, 3]) }
        let first = try await provider.waitForRequest()
        request.cancel()
        first.answer(1)
        await #expect(throws: CancellationError.self) { try await request.value }
        #expect(provider.requestCount == 1)
    }
}
