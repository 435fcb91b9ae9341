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
    let source: any CallSource
    /// Held so that an integrator with `cancelsWhenReleased` doesn't cancel the call.
    private let integrator: (any AnyObject & Sendable)?
    private(set) var configuration: CallConfiguration?

    @usableFromInline
    init(_ source: any CallSource, holding integrator: (any AnyObject & Sendable)?) {
        self.init(source, holding: integrator, configuration: nil)
    }

    init(
        _ source: any CallSource, holding integrator: (any AnyObject & Sendable)?, configuration: CallConfiguration?
    ) {
        self.source = source
        self.integrator = integrator
        self.configuration = configuration
    }

    /// Starts the call. Whether it runs, waits or is ignored is decided before this method returns.
    ///
    /// If the provider answers without suspending, every handler was written on the caller's actor, and the caller isn't a
    /// handler, all handlers have run when this method returns. Handlers can therefore run before the returned task has
    /// been stored. Without an actor, the call runs concurrently with its caller.
    ///
    /// - Parameter isolation: The caller's actor. Use the default.
    /// - Returns: The task of the call, to await or cancel it. The call continues if the task is discarded.
    @discardableResult
    public consuming func call(isolation: isolated (any Actor)? = #isolation) -> IntegrationTask<Output> {
        IntegrationTask(source.core.call(source, configuration, isolation: isolation), holding: integrator)
    }

    /// True if other calls come before or after this one, or may.
    package var isChained: Bool {
        configuration?.read { !$0.predecessors.isEmpty || !$0.links.isEmpty } ?? false
    }

    /// Starts the call, and hands out its task before its first event is delivered.
    @discardableResult
    package consuming func call(
        isolation: isolated (any Actor)?, willStart: (IntegrationTask<Output>) -> Void
    ) -> IntegrationTask<Output> {
        let integrator = integrator
        let call = source.core.call(source, configuration, isolation: isolation) { call in
            willStart(IntegrationTask(call, holding: integrator))
        }
        return IntegrationTask(call, holding: integrator)
    }

    /// Starts the call for a task that awaits it. If that task is cancelled already, the provider isn't asked, and the call
    /// delivers only its cancellation.
    consuming func callToAwait(isolation: isolated (any Actor)? = #isolation) -> IntegrationTask<Output> {
        guard Task.isCancelled else { return call(isolation: isolation) }
        return reject(.cancelled)
    }

    /// Ends the call without starting it: it delivers a cancel event in a later turn, and nothing else.
    package consuming func reject(_ reason: CancelReason) -> IntegrationTask<Output> {
        IntegrationTask(
            source.core.call(source, configuration, rejecting: reason, isolation: nil), holding: integrator)
    }

    /// Starts the call for a link of another call, which holds it until it has finished.
    func start(
        after execution: CallExecution, isRecall: Bool = false, isolation: isolated (any Actor)?
    ) {
        let integrator = integrator
        _ = source.core.call(source, configuration, isolation: isolation) { call in
            if let integrator { call.hold(integrator) }
            execution.add(follower: call, isRecall: isRecall)
        }
    }

    /// Starts the call for a call that waits for it.
    func startAsPredecessor(
        isolation: isolated (any Actor)?, whenFinished: @escaping @Sendable () -> Void
    ) -> CallHandle {
        let call = source.core.call(source, configuration, isolation: isolation)
        if let integrator { call.hold(integrator) }
        call.execution.whenFinished(whenFinished)
        return call
    }

    /// Returns this call with a change to its handlers or links.
    consuming func updating(_ change: (inout CallConfiguration.Contents) -> Void) -> IntegrationCall {
        var call = self
        CallConfiguration.update(&call.configuration, change)
        return call
    }

    /// The handlers that have been added.
    var handlers: Handlers { configuration?.read { $0.handlers } ?? Handlers() }

    /// The call with the type of its output erased.
    package var erased: IntegrationCall<any Sendable> {
        IntegrationCall<any Sendable>(source, holding: integrator, configuration: configuration)
    }

    /// This call's handlers and links, with another call's provider and input.
    package func withSource(of other: IntegrationCall) -> IntegrationCall {
        IntegrationCall(other.source, holding: other.integrator, configuration: configuration)
    }

    /// A call without an integrator, to collect handlers before there is an input. Starting it ends it at once.
    package static var unprepared: IntegrationCall {
        IntegrationCall(UnpreparedCall(), holding: nil)
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

    func joinRequest(of lane: LaneKey?) -> (any ProviderAttempt)? { nil }

    func request() async throws -> any Sendable {
        throw IntegrationError.cancelled(.released)
    }

    func values() -> ProviderValues<any Sendable> {
        ProviderValues(of: ValueDataProvider<Void, any Sendable>(()), for: ())
    }

    func leave() {}
}
