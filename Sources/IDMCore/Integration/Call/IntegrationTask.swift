/// One run of a call.
///
/// The task may be dropped: the run goes on as long as something else holds the integrator. While the task is kept, it
/// holds the integrator, but not the handlers of a run that has ended.
public struct IntegrationTask<Output: Sendable>: Sendable {
    let handle: CallHandle
    /// Only held.
    private let integrator: any AnyObject & Sendable

    init(_ handle: CallHandle, holding integrator: any AnyObject & Sendable) {
        self.handle = handle
        self.integrator = integrator
    }

    /// Cancels the run, and a call that it waits for if that was made with it. What is to come after the run however it
    /// ends still does. After the end of the run, cancels the calls chained to it, those to come among them.
    ///
    /// Once this returns on the actor of the handlers, no value and no progress of the run is heard any more. It hears
    /// ``CancelReason/cancelled``. Cancelling twice, or after the end, does nothing.
    public func cancel(isolation: isolated (any Actor)? = #isolation) {
        handle.cancelChain(isolation: isolation)
    }

    /// The value, for a stream the last one, as soon as the end of the run is decided.
    ///
    /// Throws `CancellationError` if and only if the awaiting task was cancelled, which does not cancel the run, and
    /// ``IntegrationError/cancelled(_:)`` if the run was.
    public var value: Output {
        get async throws {
            try await handle.life.waitForOutcome().get(as: Output.self)
        }
    }

    /// How the run ended, as soon as that is decided. Cancelling the awaiting task changes nothing.
    public var outcome: IntegrationOutcome<Output> {
        get async {
            await handle.life.waitForDecision()?.typed() ?? .cancelled(.cancelled)
        }
    }

    /// Waits until the last handler has run, and the same for every call chained to this one. Cancelling the awaiting
    /// task changes nothing.
    public func finish() async {
        await handle.life.waitForFinish()
    }
}

extension IntegrationTask: ChainedTask {
    /// Cancels the run. For a method reference, and for code that is on no actor.
    @_disfavoredOverload
    public func cancel() {
        cancel(isolation: nil)
    }

    /// Calls back when ``finish()`` would return, without holding the integrator meanwhile.
    package func whenAllFinished(_ callback: @escaping @Sendable () -> Void) {
        handle.life.whenAllFinished(callback)
    }

    /// Asks whether a run that tells the same handlers again is still to be made. Doesn't hold the integrator.
    package var recallInquiry: @Sendable () -> Bool {
        { [life = handle.life] in life.awaitsRecall }
    }

    package func hold() {
        let integrator = integrator
        handle.life.whenFinished { withExtendedLifetime(integrator) {} }
    }
}
