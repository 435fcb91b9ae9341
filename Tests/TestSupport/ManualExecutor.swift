import IDMTesting

/// An executor whose jobs wait until the test lets them run, so that a test can stand between a job and its turn.
package final class ManualExecutor: SerialExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isOpen = false
        var isRunning = false
    }

    private let state = Observed(State())

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        // Holds itself meanwhile: the job may be run before the end of this, and let go of whoever holds the executor.
        let kept = Unmanaged.passRetained(self)
        defer { kept.release() }
        let job = UnownedJob(job)
        let isOpen = state.change { state in
            state.jobs.append(job)
            return state.isOpen
        }
        if isOpen { Task { runAll() } }
    }

    /// While it is closed no job runs, so the test may stand in for one.
    package func checkIsolated() {}

    /// Waits until so many jobs are waiting for their turn.
    package func waitForJobs(_ count: Int = 1) async throws {
        try await state.wait { $0.jobs.count >= count }
    }

    /// Lets the job run that has waited longest.
    package func runNext() {
        next()?.runSynchronously(on: asUnownedSerialExecutor())
    }

    /// Lets everything run, what waits and what is still to come.
    package func open() {
        state.change { $0.isOpen = true }
        runAll()
    }

    private func runAll() {
        let isFirst = state.change { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard isFirst else { return }
        while let job = next() {
            job.runSynchronously(on: asUnownedSerialExecutor())
        }
    }

    private func next() -> UnownedJob? {
        state.change { state in
            if state.jobs.isEmpty { state.isRunning = false }
            return state.jobs.isEmpty ? nil : state.jobs.removeFirst()
        }
    }
}
