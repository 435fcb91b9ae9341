/// Calls before and after this one.
///
/// A chained call starts after this call's last handler, in a later turn, when this call's place is free. It is held until
/// it has finished. A call that was never started starts no other.
extension IntegrationCall {
    // MARK: Another call

    /// Starts another call when this one succeeds; for a stream once, after its last value.
    public consuming func nextSuccess<Next>(_ next: IntegrationCall<Next>) -> IntegrationCall {
        linking { outcome, _, call, isolation in
            if case .success = outcome { next.start(after: call, isolation: isolation) }
        }
    }

    /// Starts another call when this one fails.
    public consuming func nextError<Next>(_ next: IntegrationCall<Next>) -> IntegrationCall {
        linking { outcome, _, call, isolation in
            if case .failure = outcome { next.start(after: call, isolation: isolation) }
        }
    }

    /// Starts another call when this one ends in any way.
    public consuming func nextCompletion<Next>(_ next: IntegrationCall<Next>) -> IntegrationCall {
        linking { _, _, call, isolation in next.start(after: call, isolation: isolation) }
    }

    // MARK: The result as an input

    /// Starts a call of another integrator with this call's value as its input; for a stream, with the last value.
    ///
    /// - Parameters:
    ///   - integrator: The integrator that receives the value.
    ///   - configure: Adds handlers to the new call. Called at once, so the handlers keep the actor on which they are
    ///     written.
    public consuming func forwardSuccess<Next>(
        to integrator: Integrator<Output, Next>,
        _ configure: (IntegrationCall<Next>) -> IntegrationCall<Next> = { $0 }
    ) -> IntegrationCall {
        let next = configure(.unprepared)
        return linking { outcome, _, call, isolation in
            guard case .success(let value) = outcome, let input = value as? Output else { return }
            next.withSource(of: integrator, input).start(after: call, isolation: isolation)
        }
    }

    /// Starts a call of another integrator with this call's error as its input.
    ///
    /// - Parameters:
    ///   - integrator: The integrator that receives the error.
    ///   - configure: Adds handlers to the new call. Called at once, so the handlers keep the actor on which they are
    ///     written.
    public consuming func forwardError<Next>(
        to integrator: Integrator<any Error, Next>,
        _ configure: (IntegrationCall<Next>) -> IntegrationCall<Next> = { $0 }
    ) -> IntegrationCall {
        let next = configure(.unprepared)
        return linking { outcome, _, call, isolation in
            guard case .failure(let error) = outcome else { return }
            next.withSource(of: integrator, error).start(after: call, isolation: isolation)
        }
    }

    /// Starts a call of another integrator, with this call's handlers, when this call succeeds or fails: first the cache,
    /// then the server.
    ///
    /// Each of the two calls has its own begin and completion events. A cancelled call is not followed. The second call has
    /// the handlers of this one, but not its retry rule and chain.
    public consuming func thenRecall<Input>(
        with integrator: Integrator<Input, Output>, _ input: Input
    ) -> IntegrationCall {
        linking { outcome, handlers, call, isolation in
            if case .cancelled = outcome { return }
            integrator.prepareCall(input).updating { $0.shared = handlers }
                .start(after: call, isolation: isolation)
        }
    }

    /// Starts a call of another integrator without input, with this call's handlers. See ``thenRecall(with:_:)``.
    public consuming func thenRecall(with integrator: Integrator<Void, Output>) -> IntegrationCall {
        thenRecall(with: integrator, ())
    }

    private consuming func linking(_ start: @escaping CallOptions.Follower) -> IntegrationCall {
        updating { $0.options.followers.append(start) }
    }

    // MARK: Before this call

    /// Starts `call` first, and admits this call when `call` has ended, with any outcome.
    ///
    /// Cancelling this call before that also cancels `call`.
    public consuming func after<Other>(_ call: IntegrationCall<Other>) -> IntegrationCall {
        waiting { isolation, whenFinished in
            call.startAsPredecessor(isolation: isolation, whenFinished: whenFinished)
        }
    }

    /// Admits this call when a started call has ended, with any outcome.
    ///
    /// Cancelling this call doesn't cancel `task`.
    public consuming func after<Other>(_ task: IntegrationTask<Other>) -> IntegrationCall {
        waiting { _, whenFinished in
            task.execution.whenFinished(whenFinished)
            return nil
        }
    }

    private consuming func waiting(for predecessor: @escaping CallOptions.Predecessor) -> IntegrationCall {
        updating { $0.options.predecessors.append(predecessor) }
    }

    // MARK: This call again

    /// Retries the provider after an error, within the same call: one begin event, one completion.
    ///
    /// A cancellation is never retried, nor is a stream that has delivered a value. Delays are measured by the integrator's
    /// clock; the call keeps its place during a delay.
    ///
    /// - Parameters:
    ///   - count: The maximum number of retries.
    ///   - delay: The delay before each retry.
    ///   - condition: Returns true for errors to retry.
    public consuming func retry(
        _ count: Int, delay: RetryDelay = .none,
        when condition: @escaping @Sendable (any Error) -> Bool = { _ in true }
    ) -> IntegrationCall {
        updating { $0.options.retry = RetryRule(count: count, delay: delay, condition: condition) }
    }
}

extension Collection {
    /// Starts all calls, each under the executing type of its integrator, and waits until they and their chains have
    /// finished.
    ///
    /// If the awaiting task is cancelled, all calls are cancelled, and this method returns promptly. In a task that is
    /// cancelled already, no provider is asked.
    ///
    /// - Returns: The outcomes, in the order of the calls.
    public func callAll<Output>() async -> [IntegrationOutcome<Output>] where Element == IntegrationCall<Output> {
        var started: [IntegrationTask<Output>] = []
        // A loop: the closure of `map` would leave the caller's actor.
        for call in self { started.append(call.callToAwait()) }
        let tasks = started
        return await LibraryTask.reactingToCancel {
            var outcomes: [IntegrationOutcome<Output>] = []
            for task in tasks {
                await task.finish()
                outcomes.append(await task.outcome)
            }
            return outcomes
        } onCancel: {
            for task in tasks { task.cancel() }
        }
    }
}
