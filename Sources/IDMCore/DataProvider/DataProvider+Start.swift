extension DataProvider {
    /// Starts the request in a task of its own: on the caller's actor in this turn where the platform can, on no actor
    /// beside the caller.
    @inlinable
    public func _start(
        _ input: Input, reporter: IntegrationProgress.Reporter?, tiedBy ties: _RequestTies,
        isolation: isolated (any Actor)?
    ) -> Task<Output, any Error> {
        guard ties.start() else { return ties.refused() }
        let task = launch(input, reporter: reporter, tiedBy: ties, isolation: isolation)
        ties.tie(task)
        return task
    }

    @inlinable
    func launch(
        _ input: Input, reporter: IntegrationProgress.Reporter?, tiedBy ties: _RequestTies,
        isolation: isolated (any Actor)?
    ) -> Task<Output, any Error> {
        if let executor = ties.executor {
            return launch(input, reporter: reporter, tiedBy: ties, on: executor, isolation: isolation)
        }
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), isolation != nil {
            return launchAtOnce(input, reporter: reporter, tiedBy: ties, isolation: isolation)
        }
        return Task {
            // Captured, or the task doesn't start on the caller's actor.
            _ = isolation
            return try await request(input, reporter: reporter, tiedBy: ties)
        }
    }

    /// A function of its own, with a loop that runs once: so the optimizer inlines `Task.immediate`. Out of line it
    /// gives each task a record of the executor that it does not prefer, which every change of actors then has to look
    /// at.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @inlinable @inline(never)
    func launchAtOnce(
        _ input: Input, reporter: IntegrationProgress.Reporter?, tiedBy ties: _RequestTies,
        isolation: isolated (any Actor)?
    ) -> Task<Output, any Error> {
        var task: Task<Output, any Error>?
        while task == nil {
            task = Task.immediate {
                _ = isolation
                return try await request(input, reporter: reporter, tiedBy: ties)
            }
        }
        return task!
    }

    @usableFromInline
    func launch(
        _ input: Input, reporter: IntegrationProgress.Reporter?, tiedBy ties: _RequestTies,
        on executor: any TaskExecutor, isolation: isolated (any Actor)?
    ) -> Task<Output, any Error> {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), isolation != nil {
            guard !LibraryTask.takesNoOther(isolation) else {
                return launchAtOnce(input, reporter: reporter, tiedBy: ties, isolation: isolation)
            }
            return Task.immediate(executorPreference: executor) {
                _ = isolation
                return try await request(input, reporter: reporter, tiedBy: ties)
            }
        }
        return Task(executorPreference: executor) {
            // A task that is given an executor starts on no actor, whatever it captures.
            try await request(input, reporter: reporter, tiedBy: ties, on: isolation)
        }
    }

    private func request(
        _ input: Input, reporter: IntegrationProgress.Reporter?, tiedBy ties: _RequestTies,
        on isolation: isolated (any Actor)?
    ) async throws -> Output {
        try await request(input, reporter: reporter, tiedBy: ties)
    }

    @inlinable @inline(__always)
    func request(
        _ input: Input, reporter: IntegrationProgress.Reporter?, tiedBy ties: _RequestTies
    ) async throws -> Output {
        do {
            // Its turn may have come late.
            try Task.checkCancellation()
            let output = try await _request(input, reporter: reporter)
            reporter?.report(fraction: 1)
            ties.end()
            return output
        } catch {
            if ties.isCollecting { reporter?.report(fraction: 1) }
            ties.fail(error)
            throw error
        }
    }
}
