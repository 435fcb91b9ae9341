/// What comes before and after a call.
///
/// A chained call starts after this one's last handler, with this one's place free, and in a later turn. It is held
/// until it has run. An unstarted call starts nothing.
extension IntegrationCall {
    // MARK: Another call

    /// Starts another call when this one has succeeded. A stream starts it once, after its last value.
    public consuming func nextSuccess<Next>(_ next: IntegrationCall<Next>) -> IntegrationCall {
        linking { outcome, _, life, isolation in
            if case .success = outcome { next.call(isolation: isolation) { life.chain($0) } }
        }
    }

    /// Starts another call when this one has failed.
    public consuming func nextError<Next>(_ next: IntegrationCall<Next>) -> IntegrationCall {
        linking { outcome, _, life, isolation in
            if case .failure = outcome { next.call(isolation: isolation) { life.chain($0) } }
        }
    }

    /// Starts another call when this one has completed, however it ended.
    public consuming func nextCompletion<Next>(_ next: IntegrationCall<Next>) -> IntegrationCall {
        linking { _, _, life, isolation in next.call(isolation: isolation) { life.chain($0) } }
    }

    // MARK: The result as an input

    /// Hands the value on to another integrator when this call has succeeded, for a stream the last value.
    ///
    /// - Parameters:
    ///   - integrator: Takes the value as its input.
    ///   - configure: Adds handlers to the new call. Runs here and now, so they keep the actor on which they are
    ///     written.
    public consuming func forwardSuccess<Next>(
        to integrator: Integrator<Output, Next>,
        _ configure: (IntegrationCall<Next>) -> IntegrationCall<Next> = { $0 }
    ) -> IntegrationCall {
        let plan = configure(.unprepared).plan
        return linking { outcome, _, life, isolation in
            guard case .success(let value) = outcome, let input = value as? Output else { return }
            integrator.prepareCall(input, plan).call(isolation: isolation) { life.chain($0) }
        }
    }

    /// Hands the error on to another integrator when this call has failed.
    ///
    /// - Parameters:
    ///   - integrator: Takes the error as its input.
    ///   - configure: Adds handlers to the new call. Runs here and now, so they keep the actor on which they are
    ///     written.
    public consuming func forwardError<Next>(
        to integrator: Integrator<any Error, Next>,
        _ configure: (IntegrationCall<Next>) -> IntegrationCall<Next> = { $0 }
    ) -> IntegrationCall {
        let plan = configure(.unprepared).plan
        return linking { outcome, _, life, isolation in
            guard case .failure(let error) = outcome else { return }
            integrator.prepareCall(error, plan).call(isolation: isolation) { life.chain($0) }
        }
    }

    /// Runs another integrator of the same model when this call has succeeded or failed, and tells the handlers of this
    /// call again: cache first, then server.
    ///
    /// Each of the two runs has its own beginning and its own completion. A call that was cancelled isn't followed. The
    /// second run has the handlers of this call and nothing else of it: no retry and no chain.
    public consuming func thenRecall<Input>(
        with integrator: Integrator<Input, Output>, _ input: Input
    ) -> IntegrationCall {
        plan.add { $0.recallCount += 1 }
        return linking { outcome, plan, life, isolation in
            if case .cancelled = outcome { return }
            let recall = CallConfiguration(handlers: plan.handlers)
            integrator.prepareCall(input, recall).call(isolation: isolation) { life.chain($0, as: .recall) }
        }
    }

    /// Runs another integrator of the same model that needs no input. See ``thenRecall(with:_:)``.
    public consuming func thenRecall(with integrator: Integrator<Void, Output>) -> IntegrationCall {
        thenRecall(with: integrator, ())
    }

    private consuming func linking(_ link: @escaping CallConfiguration.Link) -> IntegrationCall {
        plan.add { $0.links.append(link) }
        return self
    }

    // MARK: Before this call

    /// Makes another call first, and starts this one when that has completed, however it ended.
    ///
    /// This call is admitted only then. Cancelling its task before cancels the other call as well.
    public consuming func after<Other>(_ call: IntegrationCall<Other>) -> IntegrationCall {
        following { isolation, whenFinished in
            let task = call.call(isolation: isolation)
            task.handle.life.whenFinished(whenFinished)
            return task
        }
    }

    /// Starts this call when a run that has been started elsewhere has completed, however it ended.
    ///
    /// Cancelling this call leaves the other one alone.
    public consuming func after<Other>(_ task: IntegrationTask<Other>) -> IntegrationCall {
        following { _, whenFinished in
            task.handle.life.whenFinished(whenFinished)
            return nil
        }
    }

    private consuming func following(_ predecessor: @escaping CallConfiguration.Predecessor) -> IntegrationCall {
        plan.add { $0.predecessors.append(predecessor) }
        return self
    }

    // MARK: This call again

    /// Tries again after an error, inside the same run: one beginning, one completion.
    ///
    /// A cancel is never retried, nor is a stream that has delivered a value. A retry waits on the integrator's clock
    /// and keeps the call's place.
    ///
    /// - Parameters:
    ///   - count: How often it is tried again at most. With zero or less it isn't.
    ///   - delay: How long each retry waits.
    ///   - condition: Which errors are worth a retry.
    public consuming func retry(
        _ count: Int, delay: RetryDelay = .none,
        when condition: @escaping @Sendable (any Error) -> Bool = { _ in true }
    ) -> IntegrationCall {
        plan.add { $0.retry = RetryRule(count: count, delay: delay, condition: condition) }
        return self
    }
}

extension IntegrationCall {
    /// A call to hang handlers on, before there is an input.
    package static var unprepared: IntegrationCall {
        let source = UnpreparedCall()
        return IntegrationCall(source, holding: source)
    }
}

/// Stands for the call while handlers are added to it. Made, it ends at once: there is no integrator to it yet.
private final class UnpreparedCall: CallSource, Inquiry {
    let engine = IntegratorCore(type: .default, isKeyed: false, clock: ContinuousClock())
    let isStream = false

    init() {
        engine.release()
    }

    func lane() -> LaneKey? { nil }

    func inquire(at gate: LaneScheduler) -> any Inquiry { self }

    func request() async throws -> any Sendable {
        throw IntegrationError.cancelled(.released)
    }

    func request(reporter: IntegrationProgress.Reporter) async throws -> any Sendable {
        throw IntegrationError.cancelled(.released)
    }

    func values() -> ProviderValues<any Sendable> {
        ProviderValues(of: ValueDataProvider<Void, any Sendable>(()), for: ())
    }

    func leave() {}
}
