/// A prepared call: the input, the handlers, and the calls before and after it.
///
/// A call is an immutable value; each method returns a call with something added. Starting it twice makes two executions.
///
/// All handlers of one kind run, in the order in which they were added, each on the actor on which it was written:
///
/// ```text
/// call      :=  unstarted | started
/// unstarted :=  onCancel
/// started   :=  onBeginning  (onProgress | onRetry | onSuccess)*  (onSuccess | onError | onCancel)  onCompletion
/// ```
public struct IntegrationCall<Output: Sendable>: Sendable {
    private var prepared: PreparedCall

    @usableFromInline
    init(_ source: consuming any CallSource, holding integrator: (any AnyObject & Sendable)?) {
        prepared = PreparedCall(source: source, integrator: integrator)
    }

    private init(_ prepared: PreparedCall) {
        self.prepared = prepared
    }

    /// Makes the call. Whether it starts, waits or is ignored is decided before this method returns.
    ///
    /// On Linux, and on Apple systems since version 26, all handlers have run when this method returns if the call doesn't
    /// wait, the provider answers without suspending, every handler was written on the caller's actor, and the caller isn't
    /// a handler. Handlers can therefore run before the returned task has
    /// been stored. Without an actor, the call runs concurrently with its caller.
    ///
    /// - Parameter isolation: The caller's actor. Use the default.
    /// - Returns: The task of the call, to await or cancel it. The call continues if the task is discarded.
    @discardableResult
    public consuming func call(isolation: isolated (any Actor)? = #isolation) -> IntegrationTask<Output> {
        IntegrationTask(prepared.start(isolation: isolation), holding: prepared.integrator)
    }

    /// Starts the call, and hands out its task before its first event is delivered.
    @discardableResult
    package consuming func call(
        isolation: isolated (any Actor)?, willStart: (IntegrationTask<Output>) -> Void
    ) -> IntegrationTask<Output> {
        let integrator = prepared.integrator
        let execution = prepared.start(isolation: isolation) { execution in
            willStart(IntegrationTask(execution, holding: integrator))
        }
        return IntegrationTask(execution, holding: integrator)
    }

    /// Starts the call for a task that awaits it. If that task is cancelled already, the provider isn't asked, and the call
    /// delivers only its cancellation.
    consuming func callToAwait(isolation: isolated (any Actor)? = #isolation) -> IntegrationTask<Output> {
        guard Task.isCancelled else { return call(isolation: isolation) }
        return reject(.cancelled)
    }

    /// Ends the call without starting it: it delivers a cancel event in a later turn, and nothing else.
    package consuming func reject(_ reason: CancelReason) -> IntegrationTask<Output> {
        IntegrationTask(prepared.start(rejecting: reason, isolation: nil), holding: prepared.integrator)
    }

    /// Starts the call as a follower of another call. Its integrator is held until it has finished.
    func start(after other: CallExecution, isolation: isolated (any Actor)?) {
        _ = prepared.start(isolation: isolation) { execution in
            if let integrator = prepared.integrator { execution.hold(integrator) }
            other.add(follower: execution)
        }
    }

    /// Starts the call for a call that waits for it.
    func startAsPredecessor(
        isolation: isolated (any Actor)?, whenFinished: @escaping @Sendable () -> Void
    ) -> CallExecution {
        let execution = prepared.start(isolation: isolation)
        if let integrator = prepared.integrator { execution.hold(integrator) }
        execution.whenFinished(whenFinished)
        return execution
    }

    /// Returns this call with a change to its handlers or links.
    consuming func updating(_ change: (inout CallConfiguration) -> Void) -> IntegrationCall {
        var call = self
        change(&call.prepared.configuration)
        return call
    }

    /// The handlers and observers that have been added.
    var shared: SharedHandlers { prepared.configuration.shared }

    /// This call's handlers and links, with another provider and input.
    func withSource<Input>(of integrator: Integrator<Input, Output>, _ input: Input) -> IntegrationCall {
        let configuration = prepared.configuration
        return integrator.prepareCall(input).updating { $0 = configuration }
    }

    /// The call with the type of its output erased.
    package var erased: IntegrationCall<any Sendable> {
        IntegrationCall<any Sendable>(prepared)
    }

    /// This call's handlers and links, with another call's provider and input.
    package func withSource(of other: IntegrationCall) -> IntegrationCall {
        let configuration = prepared.configuration
        return other.updating { $0 = configuration }
    }

    /// A call without an integrator, to collect handlers before there is an input. Starting it ends it at once.
    package static var unprepared: IntegrationCall {
        IntegrationCall(UnpreparedCall(), holding: nil)
    }
}

/// The contents of an ``IntegrationCall``. Not generic: copies need no metadata.
private struct PreparedCall: Sendable {
    let source: any CallSource
    var configuration = CallConfiguration()
    /// Held so that an integrator with `cancelsWhenReleased` doesn't cancel the call.
    let integrator: (any AnyObject & Sendable)?

    init(source: consuming any CallSource, integrator: (any AnyObject & Sendable)?) {
        self.source = source
        self.integrator = integrator
    }

    func start(
        rejecting reason: CancelReason? = nil, isolation: isolated (any Actor)?,
        willStart: (CallExecution) -> Void = { _ in }
    ) -> CallExecution {
        source.core.start(source, configuration, rejecting: reason, isolation: isolation, willStart: willStart)
    }
}

/// The source of ``IntegrationCall/unprepared``.
private final class UnpreparedCall: CallSource {
    let core = IntegratorCore(type: .default, isKeyed: false, clock: ContinuousClock())
    let isStream = false

    init() {
        core.release()
    }

    func laneKey() -> LaneKey? { nil }

    func joinRequest(of lane: LaneKey?) -> (any SharedAttempt)? { nil }

    func request() async throws -> any Sendable {
        throw IntegrationError.cancelled(.released)
    }

    func values() -> ProviderValues<any Sendable> {
        ProviderValues(of: ValueDataProvider<Void, any Sendable>(()), for: ())
    }
}
