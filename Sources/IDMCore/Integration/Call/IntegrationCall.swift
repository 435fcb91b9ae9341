/// A call that has been prepared: what to ask, who hears of it, and what comes after it.
///
/// A call is an immutable value. Each method returns a call with something added, and calling twice makes two runs. A
/// call holds its integrator.
///
/// Handlers of one kind all run, in the order in which they were added, each on the actor on which it was written:
///
/// ```text
/// run       :=  unstarted | started
/// unstarted :=  onCancel
/// started   :=  onBeginning  (onProgress | onRetry | onSuccess)*  (onSuccess | onError | onCancel)  onCompletion
/// ```
public struct IntegrationCall<Output: Sendable>: Sendable {
    let source: any CallSource
    /// Only held.
    let integrator: any AnyObject & Sendable
    var plan: CallConfiguration

    @usableFromInline
    init(_ source: any CallSource, holding integrator: any AnyObject & Sendable) {
        self.init(source, holding: integrator, plan: CallConfiguration())
    }

    init(_ source: any CallSource, holding integrator: any AnyObject & Sendable, plan: CallConfiguration) {
        self.source = source
        self.integrator = integrator
        self.plan = plan
    }

    /// Makes the call. Whether it runs, waits or is ignored is decided before this returns.
    ///
    /// If the provider answers without suspending, and every handler was written on the actor on which this is called,
    /// then all of them have run when it returns, unless it was called from a handler. So handlers may run before the
    /// returned task has been stored. On no actor the call runs beside its caller.
    ///
    /// - Parameter isolation: The caller's actor. Leave it out.
    /// - Returns: The task of this run, to be awaited or cancelled. It may be dropped: a run needs nobody to hold it,
    ///   only its integrator.
    @discardableResult
    public consuming func call(isolation: isolated (any Actor)? = #isolation) -> IntegrationTask<Output> {
        IntegrationTask(source.engine.call(source, plan, isolation: isolation), holding: integrator)
    }

    /// Whether other calls come before this one or after it, or may come.
    package var isChained: Bool {
        plan.extras.map { !$0.predecessors.isEmpty || !$0.links.isEmpty } ?? false
    }

    /// Makes the call, and hands out its task before anything of it is heard.
    @discardableResult
    package consuming func call(
        isolation: isolated (any Actor)?, willStart: (IntegrationTask<Output>) -> Void
    ) -> IntegrationTask<Output> {
        let integrator = integrator
        let handle = source.engine.call(source, plan, isolation: isolation) { handle in
            willStart(IntegrationTask(handle, holding: integrator))
        }
        return IntegrationTask(handle, holding: integrator)
    }

    /// Makes the call for the task that is about to await it. If that is cancelled already, nobody is asked, and the
    /// call hears only of the cancel.
    consuming func callToAwait(isolation: isolated (any Actor)? = #isolation) -> IntegrationTask<Output> {
        guard Task.isCancelled else { return call(isolation: isolation) }
        return IntegrationTask(source.engine.turnAway(source, plan, .cancelled), holding: integrator)
    }
}
