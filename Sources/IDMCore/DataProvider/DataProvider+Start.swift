extension DataProvider {
    /// Starts the request in a task of its own: on the caller's actor in this turn where the platform can, on no actor
    /// beside the caller.
    @inlinable
    public func _start(
        _ input: Input, reporter: IntegrationProgress.Reporter?, linkedBy link: _TaskGroupLink,
        isolation: isolated (any Actor)?
    ) -> Task<Output, any Error> {
        guard link.start() else { return link.refused() }
        let task = launch(input, reporter: reporter, linkedBy: link, isolation: isolation)
        link.add(task)
        return task
    }

    @inlinable
    func launch(
        _ input: Input, reporter: IntegrationProgress.Reporter?, linkedBy link: _TaskGroupLink,
        isolation: isolated (any Actor)?
    ) -> Task<Output, any Error> {
        if let executor = link.executor {
            return launch(input, reporter: reporter, linkedBy: link, on: executor, isolation: isolation)
        }
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), isolation != nil {
            return launchAtOnce(input, reporter: reporter, linkedBy: link, isolation: isolation)
        }
        return Task {
            // Captured, or the task doesn't start on the caller's actor.
            _ = isolation
            return try await request(input, reporter: reporter, linkedBy: link)
        }
    }

    /// A function of its own, with a loop that runs once: so the optimizer inlines `Task.immediate`. Out of line it
    /// gives each task a record of the executor that it does not prefer, which every change of actors then has to look
    /// at.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @inlinable @inline(never)
    func launchAtOnce(
        _ input: Input, reporter: IntegrationProgress.Reporter?, linkedBy link: _TaskGroupLink,
        isolation: isolated (any Actor)?
    ) -> Task<Output, any Error> {
        var task: Task<Output, any Error>?
        while task == nil {
            task = Task.immediate {
                _ = isolation
                return try await request(input, reporter: reporter, linkedBy: link)
            }
        }
        return task!
    }

    @usableFromInline
    func launch(
        _ input: Input, reporter: IntegrationProgress.Reporter?, linkedBy link: _TaskGroupLink,
        on executor: any TaskExecutor, isolation: isolated (any Actor)?
    ) -> Task<Output, any Error> {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), isolation != nil {
            guard !LibraryTask.takesNoOther(isolation) else {
                return launchAtOnce(input, reporter: reporter, linkedBy: link, isolation: isolation)
            }
            return Task.immediate(executorPreference: executor) {
                _ = isolation
                return try await request(input, reporter: reporter, linkedBy: link)
            }
        }
        return Task(executorPreference: executor) {
            // A task that is given an executor starts on no actor, whatever it captures.
            try await request(input, reporter: reporter, linkedBy: link, on: isolation)
        }
    }

    private func request(
        _ input: Input, reporter: IntegrationProgress.Reporter?, linkedBy link: _TaskGroupLink,
        on isolation: isolated (any Actor)?
    ) async throws -> Output {
        try await request(input, reporter: reporter, linkedBy: link)
    }

    @inlinable @inline(__always)
    func request(
        _ input: Input, reporter: IntegrationProgress.Reporter?, linkedBy link: _TaskGroupLink
    ) async throws -> Output {
        do {
            // Its turn may have come late.
            try Task.checkCancellation()
            let output = try await _request(input, reporter: reporter)
            reporter?.report(fraction: 1)
            link.end()
            return output
        } catch {
            if link.isCollecting { reporter?.report(fraction: 1) }
            link.fail(error)
            throw error
        }
    }
}
