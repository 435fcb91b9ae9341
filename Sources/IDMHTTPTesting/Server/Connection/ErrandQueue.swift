import IDMCore
import IDMTesting

/// Errands on their way from a thread on which nothing is bound to a task that starts them with what is bound there.
///
/// No `AsyncStream`: the Thread Sanitizer doesn't see the lock of that, and takes what it hands over for a race.
struct ErrandQueue: Sendable {
    private struct State {
        var waiting: [Errand] = []
        var isOver = false
    }

    private let state = Watched(State())

    func add(_ errand: Errand) {
        state.change { $0.waiting.append(errand) }
    }

    /// No more come.
    func finish() {
        state.change { $0.isOver = true }
    }

    /// Starts all that come, in their order, and returns when no more do.
    func run(preferring executor: (any TaskExecutor)?) async {
        var isOver = false
        while !isOver {
            try? await state.wait(deaf: true) { !$0.waiting.isEmpty || $0.isOver }
            let now = state.change { state in
                defer { state.waiting = [] }
                return state
            }
            for errand in now.waiting { errand.start(preferring: executor) }
            isOver = now.isOver
        }
    }
}
