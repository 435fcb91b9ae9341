extension LibraryTask {
    /// Does work on the caller's actor, and hears it at once if the task is cancelled meanwhile.
    ///
    /// `withTaskCancellationHandler` by itself takes its work to the pool, where whoever waits is let go on unseen, and
    /// then has to come back. It stays only if its closure captures the parameter that names the actor. So all of the
    /// library's sources hear of cancels here, and a closure given to this has nothing to capture. It has no capture
    /// list: with one it would leave the actor all the same.
    @inlinable
    @inline(__always)
    package static func hearingCancel<Value>(
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
