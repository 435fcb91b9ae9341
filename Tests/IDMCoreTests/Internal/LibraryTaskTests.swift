import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("The tasks that the library makes", .timeLimit(.ample))
struct LibraryTaskTests {
    /// Runs jobs on the pool, and says that it was asked to.
    private final class Counting: TaskExecutor {
        let jobs = Watched(0)

        func enqueue(_ job: consuming ExecutorJob) {
            jobs.change { $0 += 1 }
            let job = UnownedJob(job)
            Task { job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }

    @Test("prefer the executor of the task-local")
    func executor() async throws {
        let (executor, provider) = (Counting(), ControlledDataProvider<Int, Int>())
        let integrator = Integrator(provider)
        let task = LibraryTask.$executor.withValue(executor) { integrator.prepareCall(1).onSuccess { _ in }.call() }
        try await provider.nextRequest().answer(1)
        await task.finish()
        #expect(await task.outcome == .success(1))
        #expect(executor.jobs.value > 0)
    }
}
