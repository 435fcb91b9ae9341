extension LibraryTask {
    /// Does work on the caller's actor, with a value bound to a task-local.
    ///
    /// `withValue` by itself takes its work to the pool, unless its closure captures the parameter that names the
    /// actor. Don't give it a closure with a capture list, which would leave the actor all the same.
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
