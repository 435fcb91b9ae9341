import IDMCore
import IDMTesting

/// Errands on their way from a thread on which nothing is bound to a task that starts them with what is bound there.
///
/// No `AsyncStream`: the Thread Sanitizer doesn't see the lock of that, and takes what it hands over for a race.
struct ServerJobQueue: Sendable {
    private struct State {
        var waiting: [ServerJob] = []
        var isOver = false
    }

    private let state = Observed(State())

    func add(_ job: ServerJob) {
        state.change { $0.waiting.append(job) }
    }

    /// No more come.
    func finish() {
        state.change { $0.isOver = true }
    }

    /// Starts all that come, in their order, and returns when no more do.
    func run(preferring executor: (any TaskExecutor)?) async {
        var isOver = false
        while !isOver {
            try? await state.wait(ignoringCancel: true) { !$0.waiting.isEmpty || $0.isOver }
            let now = state.change { state in
                defer { state.waiting = [] }
                return state
            }
            for job in now.waiting { job.start(preferring: executor) }
            isOver = now.isOver
        }
    }
}
