/// A started call.
///
/// The task may be discarded. While it is kept, it holds the integrator, but not the handlers of a call that has ended.
public struct IntegrationTask<Output: Sendable>: Sendable {
    let execution: CallExecution
    /// Held so that an integrator with `cancelsWhenReleased` doesn't cancel the call.
    private let integrator: (any AnyObject & Sendable)?

    init(_ execution: CallExecution, holding integrator: (any AnyObject & Sendable)?) {
        self.execution = execution
        self.integrator = integrator
    }

    /// Cancels the call with ``CancelReason/cancelled``, and a call that it waits for if that was started with it. Calls
    /// that follow a cancelled call still start. After the end of the call, cancels the calls that follow it instead.
    ///
    /// If called on the handlers' actor, no value or progress of the call is delivered after this method returns.
    public func cancel(isolation: isolated (any Actor)? = #isolation) {
        execution.cancelChain(isolation: isolation)
    }

    /// The value, as soon as the outcome is decided; for a stream, the last value.
    ///
    /// Throws `CancellationError` if and only if the awaiting task is cancelled, which doesn't cancel the call, and
    /// ``IntegrationError/cancelled(_:)`` if the call is cancelled.
    public var value: Output {
        get async throws {
            try await execution.waitForOutcome().get(as: Output.self)
        }
    }

    /// The outcome, as soon as it is decided.
    ///
    /// If the awaiting task is cancelled before that, returns `.cancelled(.cancelled)` at once. This doesn't cancel the
    /// call.
    public var outcome: IntegrationOutcome<Output> {
        get async {
            let outcome = try? await execution.waitForOutcome()
            return (outcome ?? execution.outcome ?? .cancelled(.cancelled)).typed()
        }
    }

    /// Waits until the last handler of the call has run, and of every call that is chained to it.
    ///
    /// If the awaiting task is cancelled, returns at once. This doesn't cancel the call.
    public func finish() async {
        await execution.waitForFinish()
    }
}

extension IntegrationTask {
    /// Cancels the call from code that is on no actor, or as a method reference.
    @_disfavoredOverload
    public func cancel() {
        cancel(isolation: nil)
    }

    /// Calls back when ``finish()`` would return, without holding the integrator.
    package func whenAllFinished(_ callback: @escaping @Sendable () -> Void) {
        execution.whenChainFinished(callback)
    }

    /// Calls back when the last handler of the call has run, on any thread; at once if it has.
    package func whenFinished(_ callback: @escaping @Sendable () -> Void) {
        execution.whenFinished(callback)
    }

    /// The outcome. Nil before the end, and if other calls are chained to the call.
    package var unchainedOutcome: IntegrationOutcome<Output>? { execution.unchainedOutcome?.typed() }

    /// Holds the integrator until the call has finished.
    package func hold() {
        if let integrator { execution.hold(integrator) }
    }
}
