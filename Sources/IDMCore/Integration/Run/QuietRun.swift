/// A call of which nobody hears, and which is let in or turned away as it comes. It asks the provider once and has
/// nobody to tell, so there is no more to it than its life.
struct QuietRun: TaskWork {
    let engine: IntegratorCore
    let gate: LaneScheduler
    let ticket: CallID
    let life: CallState
    let inquiry: any Inquiry

    var executor: (any TaskExecutor)? { engine.executor }

    func perform() async {
        // Cancelled before it came to it: the provider isn't asked.
        guard !life.isStopped else { return }
        let outcome: CallState.Outcome
        do {
            outcome = .success(try await inquiry.request())
        } catch {
            outcome = CallState.Outcome(error)
        }
        if let control = PauseControl.current { try? await control.waitWhilePaused() }
        // Anything else than a go-ahead: whoever has cancelled it has ended it as well.
        if gate.end(ticket) == .proceed { life.end(outcome) }
    }
}

extension CallState: ScheduledCall {
    func takeOver(
        _ ticket: CallID, _ reason: CancelReason, at gate: LaneScheduler, isolation: isolated (any Actor)?
    ) {
        gate.finish(ticket)
        end(.cancelled(reason))
    }
}
