import IDMTesting

/// An executor whose jobs wait until the test lets them run.
package final class HeldJobs: TaskExecutor {
    private let jobs = Observed<[UnownedJob]>([])

    package init() {}

    package var count: Int { jobs.value.count }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.change { $0.append(job) }
    }

    package func areWaiting(_ count: Int) async throws {
        try await jobs.wait { $0.count >= count }
    }

    /// Lets all run that have come since the last time, in their order.
    package func run() {
        let come = jobs.change { jobs in
            defer { jobs = [] }
            return jobs
        }
        for job in come { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
