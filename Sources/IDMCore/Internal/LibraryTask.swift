/// How this package starts a task that outlives the function that starts it.
package enum LibraryTask {
    /// The executor that every unstructured task of this package prefers. A test kit sets it to put them in an order.
    @TaskLocal package static var executor: (any TaskExecutor)?

    /// When a task starts.
    enum Start: Sendable {
        /// In this turn where the platform can, or else in the actor's next turn.
        case now
        /// In a later turn.
        case later
    }

    /// Starts work on the caller's actor.
    ///
    /// Work that is started from inside a handler always waits for a later turn. Tasks that start at once nest on the stack,
    /// and a handler that calls again, whose handler calls again, would run out of it.
    ///
    /// - Parameter turn: What lets the work know when it is inside a handler, if it ever is.
    @discardableResult
    static func start(
        _ work: some TaskWork, _ start: Start = .now, turn: HandlerTurn? = nil, isolation: isolated (any Actor)?
    ) -> Task<Void, Never> {
        let isLater = start == .later || HandlerTurn.isCurrent
        guard let turn else { return launch(work, isLater: isLater, isolation: isolation) }
        return turn.bind { launch(work, isLater: isLater, isolation: isolation) }
    }

    private static func launch(
        _ work: some TaskWork, isLater: Bool, isolation: isolated (any Actor)?
    ) -> Task<Void, Never> {
        if let executor { return launch(work, isLater: isLater, on: executor, isolation: isolation) }
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), !isLater else {
            return Task {
                // Captured, or the task doesn't start on the caller's actor.
                _ = isolation
                await work.perform()
            }
        }
        // A loop that runs once: inside of one, the optimizer inlines `Task.immediate`. Out of line it gives each task a
        // record of the executor that it does not prefer, which every change of actors then has to look at.
        var task: Task<Void, Never>?
        while task == nil {
            task = Task.immediate {
                _ = isolation
                await work.perform()
            }
        }
        return task!
    }

    private static func launch(
        _ work: some TaskWork, isLater: Bool, on executor: any TaskExecutor, isolation: isolated (any Actor)?
    ) -> Task<Void, Never> {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), !isLater {
            return Task.immediate(executorPreference: executor) {
                _ = isolation
                await work.perform()
            }
        }
        return Task(executorPreference: executor) {
            _ = isolation
            await work.perform()
        }
    }

    /// Starts a closure as ``start(_:_:turn:isolation:)`` starts work, with the actor that it runs on.
    @discardableResult
    package static func start(
        isolation: isolated (any Actor)?, _ body: @escaping @Sendable (isolated (any Actor)?) async -> Void
    ) -> Task<Void, Never> {
        start(ClosureWork(body: body), isolation: isolation)
    }

    /// Starts a closure on no actor, in a later turn.
    @discardableResult
    static func startLater(_ body: @escaping @Sendable (isolated (any Actor)?) async -> Void) -> Task<Void, Never> {
        launch(ClosureWork(body: body), isLater: true, isolation: nil)
    }
}

/// What a task is started for. A type of its own, and not a closure, where it has to cost nothing.
protocol TaskWork: Sendable {
    func perform() async
}

private struct ClosureWork: TaskWork {
    let body: @Sendable (isolated (any Actor)?) async -> Void

    func perform() async {
        await body(#isolation)
    }
}
