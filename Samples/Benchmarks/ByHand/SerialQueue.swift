import Synchronization

/// Runs jobs one at a time, in FIFO order: a lock, an array and a task.
final class SerialQueue: Sendable {
    typealias Work = @Sendable () async -> Void

    private struct State {
        var waiting: [Work] = []
        var isRunning = false
    }

    private let state = Mutex(State())

    func add(_ work: @escaping Work) {
        let starts = state.withLock { state in
            state.waiting.append(work)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts {
            Task { await run() }
        }
    }

    private func run() async {
        while let batch = take() {
            for work in batch { await work() }
        }
    }

    private func take() -> [Work]? {
        state.withLock { state in
            defer { state.waiting = [] }
            state.isRunning = !state.waiting.isEmpty
            return state.isRunning ? state.waiting : nil
        }
    }
}
