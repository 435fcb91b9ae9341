internal import IDMCore
internal import Synchronization

/// Ends work when whoever asks for it pauses, so that it can be begun again.
struct Interruption: Sendable {
    /// What pauses the work, if anybody can.
    let control = PauseControl.current

    /// Does work, again whenever it was ended by a pause that is over. Work that fails because of a pause in another way
    /// than by its cancellation is told from other failures by whether it may be repeated.
    ///
    /// - Parameter isRepeatable: Whether work that failed so, while it was paused, is done again.
    func run<Value: Sendable>(
        cancels: Bool = true, isRepeatable: @escaping @Sendable (any Error) -> Bool = { $0 is CancellationError },
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let control else { return try await work() }
        while true {
            try await control.waitWhilePaused()
            let pauses = Pauses()
            let task = Task(executorPreference: LibraryTask.executor) { try await work() }
            let observation = control.observe {
                guard control.isPaused else { return }
                pauses.count()
                if cancels { task.cancel() }
            }
            // A pause before it was observed.
            if control.isPaused {
                pauses.count()
                if cancels { task.cancel() }
            }
            defer { withExtendedLifetime(observation) {} }
            do {
                return try await withTaskCancellationHandler {
                    try await task.value
                } onCancel: {
                    task.cancel()
                }
            } catch {
                try Task.checkCancellation()
                guard pauses.any, isRepeatable(error) else { throw error }
            }
        }
    }

    private final class Pauses: Sendable {
        private let hasAny = Atomic(false)
        var any: Bool { hasAny.load(ordering: .acquiring) }
        func count() { hasAny.store(true, ordering: .releasing) }
    }
}
