internal import IDMCore
internal import Synchronization

/// Ends work when whoever asks for it pauses, so that it can be begun again.
struct Interruption: Sendable {
    /// What pauses the work, if anybody can.
    let control = PauseControl.current

    /// Does work, again whenever it was ended by a pause that is over.
    ///
    /// - Parameter ends: Asked at each pause: whether it ends the work. Work that a pause doesn't end goes on.
    func run<Value: Sendable>(
        ends: @escaping @Sendable () -> Bool = { true }, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let control else { return try await work() }
        while true {
            try await control.waitWhilePaused()
            let pauses = Pauses()
            // Before the work begins: a pause that was over by then would not be heard of.
            let observation = control.observe {
                if control.isPaused, ends() { pauses.count() }
            }
            defer { withExtendedLifetime(observation) {} }
            let task = Task(executorPreference: LibraryTask.executor) { try await work() }
            pauses.end { task.cancel() }
            // There may have been one before it was observed.
            if control.isPaused, ends() { pauses.count() }
            do {
                return try await withTaskCancellationHandler {
                    try await task.value
                } onCancel: {
                    task.cancel()
                }
            } catch is CancellationError {
                try Task.checkCancellation()
                guard pauses.any else { throw CancellationError() }
            }
        }
    }

    /// What ends the work, as soon as there are both: a pause, and work.
    private final class Pauses: Sendable {
        private struct State {
            var any = false
            var end: (@Sendable () -> Void)?
        }

        private let state = Mutex(State())

        var any: Bool { state.withLock { $0.any } }

        func count() {
            let end = state.withLock { state in
                state.any = true
                return state.end
            }
            end?()
        }

        func end(_ end: @escaping @Sendable () -> Void) {
            let isDue = state.withLock { state in
                state.end = end
                return state.any
            }
            if isDue { end() }
        }
    }
}
