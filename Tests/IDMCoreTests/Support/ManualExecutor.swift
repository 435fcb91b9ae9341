import IDMCore
import IDMTesting
import TestSupport

/// An executor whose jobs wait until the test lets them run, so that a test can stand between a job and its turn.
final class ManualExecutor: SerialExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isOpen = false
        var isRunning = false
    }

    private let state = Watched(State())

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isOpen = state.change { state in
            state.jobs.append(job)
            return state.isOpen
        }
        if isOpen { Task { runAll() } }
    }

    /// While it is closed no job runs, so the test may stand in for one.
    func checkIsolated() {}

    /// Waits until so many jobs are waiting for their turn.
    func waiting(_ count: Int = 1) async throws {
        try await state.wait { $0.jobs.count >= count }
    }

    /// Lets everything run, what waits and what is still to come.
    func open() {
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

/// An actor that lives on a ``ManualExecutor``.
actor Stage {
    nonisolated let executor = ManualExecutor()

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Runs code as if in a turn of the actor. Only while the executor is closed.
    nonisolated func here<R: Sendable>(_ body: (isolated Stage) throws -> R) rethrows -> R {
        try assumeIsolated(body)
    }

    /// A call whose handlers are written here.
    nonisolated func record(_ call: IntegrationCall<Int>, in log: Log) -> IntegrationCall<Int> {
        here { stage in call.recorded(in: log, isolation: stage) }
    }
}
