extension DataProvider {
    /// Starts a request of a group in a task of its own.
    ///
    /// On an actor, the task starts in the caller's turn where the platform can. On no actor, it starts on another
    /// thread, except that of the last member: the caller only waits, so its thread is free for that one.
    @inlinable @inline(__always)
    func start(
        _ input: Input, reporter: IntegrationProgress.Reporter?, in group: TaskGroupLink, isLast: Bool,
        isolation: isolated (any Actor)?
    ) -> Task<Output, any Error> {
        if let executor = group.executor {
            return start(input, reporter: reporter, in: group, on: executor, isolation: isolation)
        }
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), isolation != nil || isLast {
            return startImmediately(input, reporter: reporter, in: group, isolation: isolation)
        }
        return Task {
            // Captured, or the task does not start on the caller's actor.
            _ = isolation
            return try await perform(input, reporter: reporter, in: group)
        }
    }

    /// Starts the task in the caller's turn.
    ///
    /// A function of its own, with a loop that runs once: the optimizer of Swift 6.3 then inlines `Task.immediate`. Out
    /// of line, each task gets a record of the executor that it does not prefer, which every change of actors reads
    /// (benchmark row "group of two that answer at once").
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @inlinable @inline(never)
    func startImmediately(
        _ input: Input, reporter: IntegrationProgress.Reporter?, in group: TaskGroupLink,
        isolation: isolated (any Actor)?
    ) -> Task<Output, any Error> {
        var task: Task<Output, any Error>?
        while task == nil {
            task = Task.immediate {
                _ = isolation
                return try await perform(input, reporter: reporter, in: group)
            }
        }
        return task!
    }

    /// Starts the task on the executor of the test kit.
    @usableFromInline
    func start(
        _ input: Input, reporter: IntegrationProgress.Reporter?, in group: TaskGroupLink,
        on executor: any TaskExecutor, isolation: isolated (any Actor)?
    ) -> Task<Output, any Error> {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), isolation != nil {
            guard !LibraryTask.takesNoOther(isolation) else {
                return startImmediately(input, reporter: reporter, in: group, isolation: isolation)
            }
            return Task.immediate(executorPreference: executor) {
                _ = isolation
                return try await perform(input, reporter: reporter, in: group)
            }
        }
        // A task with an executor preference starts on no actor, whatever it captures.
        let body: @Sendable (isolated (any Actor)?) async throws -> Output = { _ in
            try await perform(input, reporter: reporter, in: group)
        }
        return Task(executorPreference: executor) { try await body(isolation) }
    }

    /// Makes the request, and reports its end to the group.
    @inlinable @inline(__always)
    func perform(
        _ input: Input, reporter: IntegrationProgress.Reporter?, in group: TaskGroupLink
    ) async throws -> Output {
        do {
            // The group may have been closed before the task began.
            try group.checkOpen()
            try Task.checkCancellation()
            let output =
                if let sideRequests = group.sideRequests {
                    try await sideRequests.bind { try await _request(input, reporter: reporter) }
                } else {
                    try await reporter == nil ? request(input) : _request(input, reporter: reporter)
                }
            reporter?.report(fraction: 1)
            group.end()
            return output
        } catch {
            if group.isCollecting { reporter?.report(fraction: 1) }
            group.fail(error)
            throw error
        }
    }
}
