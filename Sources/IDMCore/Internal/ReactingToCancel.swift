extension LibraryTask {
    /// Runs `work` on the caller's actor, and calls `onCancel` at once when the task is cancelled.
    ///
    /// `withTaskCancellationHandler` alone moves its closure to the pool, from which the task has to return out of the
    /// test kit's sight. It stays on the actor only if the closure captures the isolated parameter. All sources of the
    /// library use this function instead. A closure with a capture list leaves the actor nevertheless.
    @inlinable
    @inline(__always)
    package static func reactingToCancel<Value>(
        isolation: isolated (any Actor)? = #isolation, _ work: () async throws -> Value,
        onCancel: @Sendable () -> Void
    ) async rethrows -> Value {
        try await withTaskCancellationHandler {
            _ = isolation
            return try await work()
        } onCancel: {
            onCancel()
        }
    }
}
