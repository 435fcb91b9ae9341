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
            let task = Task(executorPreference: LibraryTask.executor) { try await work() }
            let pause: @Sendable () -> Void = {
                guard control.isPaused, ends() else { return }
                pauses.count()
                task.cancel()
            }
            let observation = control.observe(pause)
            // There may have been one before it was observed.
            pause()
            defer { withExtendedLifetime(observation) {} }
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

    private final class Pauses: Sendable {
        private let hasAny = Atomic(false)
        var any: Bool { hasAny.load(ordering: .acquiring) }
        func count() { hasAny.store(true, ordering: .releasing) }
    }
}
