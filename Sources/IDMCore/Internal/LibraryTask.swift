/// How this package starts a task that outlives the function that starts it.
package enum LibraryTask {
    /// The executor that every unstructured task of this package prefers. A test kit sets it to put them in an order.
    @TaskLocal package static var executor: (any TaskExecutor)?

    /// Starts work on the caller's actor: in this turn where the platform can, or else in the actor's next turn.
    ///
    /// Work that is started from inside a handler always waits for the next turn. Tasks that start at once nest on the
    /// stack, and a handler that calls again, whose handler calls again, would run out of it.
    @discardableResult
    static func start(
        isolation: isolated (any Actor)?, _ work: @escaping @Sendable (isolated (any Actor)?) async -> Void
    ) -> Task<Void, Never> {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), !HandlerTurn.isCurrent {
            return Task.immediate(executorPreference: executor) {
                _ = isolation
                await work(isolation)
            }
        }
        return startLater(isolation: isolation, work)
    }

    /// Starts work in the actor's next turn.
    @discardableResult
    static func startLater(
        isolation: isolated (any Actor)?, _ work: @escaping @Sendable (isolated (any Actor)?) async -> Void
    ) -> Task<Void, Never> {
        Task(executorPreference: executor) {
            _ = isolation
            await work(isolation)
        }
    }
}
