internal import IDMCore

/// Ends work when whoever asks for it pauses, so that it can be begun again.
struct Interruption: Sendable {
    /// What pauses the work, if anybody can.
    let control = PauseControl.current
    /// Until when a pause may last.
    let deadline: RequestDeadline?

    /// Work that a pause may end.
    struct Attempt<Value: Sendable>: Sendable {
        /// Asked at each pause: whether it ends the work, which is cancelled then. Work that a pause doesn't end goes
        /// on.
        var ends: @Sendable () -> Bool = { true }
        let work: @Sendable () async throws -> Value
    }

    /// Does work, again whenever it was ended by a pause that is over.
    ///
    /// - Parameter attempt: Makes the work, each time that it is done.
    func run<Value: Sendable>(_ attempt: () -> Attempt<Value>) async throws -> Value {
        guard let control else { return try await attempt().work() }
        while true {
            try await control.waitWhilePaused(until: deadline)
            let attempt = attempt()
            let pauses = Pauses()
            // Before the work begins: a pause that was over by then would not be heard of.
            let observation = control.observe {
                if control.isPaused { pauses.count(if: attempt.ends) }
            }
            defer { withExtendedLifetime(observation) {} }
            // There may have been one before it was observed. Before the work begins as well: it is to find that out.
            if control.isPaused { pauses.count(if: attempt.ends) }
            let task = Task(executorPreference: LibraryTask.executor) { try await attempt.work() }
            pauses.end { task.cancel() }
            do {
                return try await LibraryTask.reactingToCancel {
                    try await task.value
                } onCancel: {
                    task.cancel()
                }
            } catch {
                try Task.checkCancellation()
                // Whatever others have made of being cancelled. What is wrong besides is found again.
                guard pauses.any else { throw error }
            }
        }
    }

    /// What ends the work, as soon as there are both: a pause, and work.
    private final class Pauses: Sendable {
        private struct State {
            var any = false
            var end: (@Sendable () -> Void)?
        }

        private let state = Locked(State())

        var any: Bool { state.withLock { $0.any } }

        /// Counts a pause if it ends the work. Who sees the work end for that reason finds it counted.
        func count(if ends: () -> Bool) {
            let end = state.withLock { state -> (@Sendable () -> Void)? in
                guard ends() else { return nil }
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
