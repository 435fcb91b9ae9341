/// A call of whose output nothing is known: for code that is the same for all calls, and isn't to be generic.
package struct ErasedCall: Sendable {
    private(set) var source: any CallSource
    /// Only held.
    private(set) var integrator: any AnyObject & Sendable
    var plan: CallConfiguration

    init(source: any CallSource, integrator: any AnyObject & Sendable, plan: CallConfiguration) {
        self.source = source
        self.integrator = integrator
        self.plan = plan
    }

    /// Asks what another call asks. Returns what this one has held for what it asked before.
    package mutating func ask(as other: ErasedCall) -> any AnyObject & Sendable {
        defer { (source, integrator) = (other.source, other.integrator) }
        return integrator
    }

    /// Makes the call, and hands out its task before anything of it runs: so its own handlers can cancel it.
    ///
    /// - Parameter control: What pauses the call, if it isn't what pauses the caller.
    package func call(
        pausedBy control: PauseControl? = nil, isolation: isolated (any Actor)? = #isolation,
        willStart: (ErasedTask) -> Void
    ) {
        _ = source.engine.call(source, plan, pausedBy: control, isolation: isolation) { handle in
            willStart(ErasedTask(handle: handle, integrator: integrator))
        }
    }

    /// Makes the call only to end it: it hears the reason in a later turn, and nothing else.
    package func turnAway(_ reason: CancelReason) -> ErasedTask {
        ErasedTask(handle: source.engine.turnAway(source, plan, reason), integrator: integrator)
    }
}

/// One run of a call of whose output nothing is known.
package struct ErasedTask: Sendable {
    let handle: CallHandle
    /// Only held.
    let integrator: any AnyObject & Sendable

    /// Does as ``IntegrationTask/cancel(isolation:)`` does.
    package func cancel(isolation: isolated (any Actor)? = #isolation) {
        handle.cancelChain(isolation: isolation)
    }

    /// Calls back when the last handler of the run has: from wherever that is, or at once if it is over.
    package func whenFinished(_ callback: @escaping @Sendable () -> Void) {
        handle.life.whenFinished(callback)
    }

    /// How the run ended. Nil if it hasn't, and if other calls are chained to it, which may have more to tell.
    package var lastWord: IntegrationOutcome<any Sendable>? { handle.life.lastWord }

    /// Waits until the last handler of the run has run, and of everything that is chained to it. Returns how the run
    /// ended.
    package func finish() async -> IntegrationOutcome<any Sendable> {
        await handle.life.waitForFinish()
        return handle.life.outcome ?? .cancelled(.cancelled)
    }
}

extension IntegrationCall {
    /// The call, without its type.
    package var erased: ErasedCall { ErasedCall(source: source, integrator: integrator, plan: plan) }
}
