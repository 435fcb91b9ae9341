extension LibraryTask {
    /// Runs `work` on the caller's actor, with a value bound to a task-local.
    ///
    /// `withValue` alone moves its closure to the pool unless that captures the isolated parameter. A closure with a
    /// capture list leaves the actor nevertheless.
    @inlinable
    @inline(__always)
    package static func binding<Value: Sendable, R>(
        _ local: TaskLocal<Value>, to value: Value, isolation: isolated (any Actor)? = #isolation,
        _ work: () async throws -> R
    ) async rethrows -> R {
        try await local.withValue(value) {
            _ = isolation
            return try await work()
        }
    }
}
