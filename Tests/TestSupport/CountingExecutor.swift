import IDMTesting

/// Runs jobs on the pool, and counts them.
package final class CountingExecutor: TaskExecutor {
    private let counts = Observed((jobs: 0, ended: 0))

    package init() {}

    /// The number of jobs so far.
    package var jobCount: Int { counts.value.jobs }

    /// Waits until so many jobs have run, each to where its task ends or waits.
    package func ran(_ count: Int) async throws {
        try await counts.wait { $0.ended >= count }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        counts.change { $0.jobs += 1 }
        let job = UnownedJob(job)
        Task {
            job.runSynchronously(on: asUnownedTaskExecutor())
            counts.change { $0.ended += 1 }
        }
    }
}
