/// How a run speaks to its handlers: one at a time, each on the actor on which it was written.
///
/// Whether something may still be told is asked in the turn in which it is heard: on the actor of the first handler, the
/// gate is asked and then that handler is called, with no suspension between. The functions here that end in `Here` have
/// to be called on that actor.
extension Run {
    // MARK: The beginning

    /// Tells the beginning. Returns false if the run has ended instead.
    func begin(_ ticket: Ticket) async -> Bool {
        let actor = handlers.actor(of: .beginning, else: #isolation)
        guard isHere(actor) else { return await begin(ticket, on: actor) }
        return await beginHere(ticket)
    }

    private func begin(_ ticket: Ticket, on actor: isolated (any Actor)?) async -> Bool {
        await beginHere(ticket)
    }

    private func beginHere(_ ticket: Ticket) async -> Bool {
        let isHeard = handlers.kinds.contains(.beginning)
        switch gate.voice(ticket, { isHeard ? $0.begin() : $0.beginAndAsk() }) {
        case .proceed:
            guard isHeard else { return true }
            turn.begin()
            for case .beginning(let handler) in handlers.signals { await handler() }
            turn.end()
            return await fallSilent(ticket)
        case .cancelled(let reason):
            await tellCancel(reason, hasBegun: false, ticket)
            return false
        default:
            return false
        }
    }

    // MARK: On the way

    /// Tells a value of a stream. Returns false if the run has ended instead.
    func tell(value: any Sendable, _ ticket: Ticket) async -> Bool {
        guard await takeFloor(ticket) else { return false }
        let actor = handlers.actor(of: .success, else: #isolation)
        guard isHere(actor) else { return await tell(value, ticket, on: actor) }
        return await tellHere(value, ticket)
    }

    private func tell(_ value: any Sendable, _ ticket: Ticket, on actor: isolated (any Actor)?) async -> Bool {
        await tellHere(value, ticket)
    }

    private func tellHere(_ value: any Sendable, _ ticket: Ticket) async -> Bool {
        switch gate.voice(ticket, { $0.commit(isFinal: false) }) {
        case .proceed:
            turn.begin()
            for handler in handlers.successes { await handler.hear(value) }
            turn.end()
            return await fallSilent(ticket)
        case .cancelled(let reason):
            await tellCancel(reason, hasBegun: true, ticket)
            return false
        default:
            return false
        }
    }

    /// Tells of a retry. Returns false if the run has ended instead.
    func tell(retry attempt: Int, after error: any Error, _ ticket: Ticket) async -> Bool {
        guard await takeFloor(ticket) else { return false }
        for case .retry(let handler) in handlers.signals {
            await tell(ticket, on: handler.isolation) { await handler(attempt, error) }
        }
        return await fallSilent(ticket)
    }

    /// Tells the progress that has been reported, until there is none left or somebody else is to speak.
    func pump(_ progress: IntegrationProgress, _ ticket: Ticket) async {
        var progress = progress
        while true {
            await tell(progress: progress, ticket)
            switch gate.voice(ticket, { $0.hush() }) {
            case .progress(let next):
                progress = next
            case .handOver:
                return wake()
            case .end(let reason, let runWaits):
                if runWaits { wake() }
                return await tellCancel(reason, hasBegun: true, ticket)
            case .done, nil:
                return
            }
        }
    }

    private func tell(progress: IntegrationProgress, _ ticket: Ticket) async {
        for case .progress(let handler) in handlers.signals {
            await tell(ticket, on: handler.isolation) { await handler(progress) }
        }
    }

    /// Calls a handler of something that isn't an answer, unless the run was cancelled.
    private func tell(_ ticket: Ticket, on actor: isolated (any Actor)?, _ handler: () async -> Void) async {
        guard gate.voice(ticket, { $0.isHeard }) == true else { return }
        turn.begin()
        await handler()
        turn.end()
    }

    // MARK: The floor

    /// Waits until the run's own task may speak, and tells the progress that came before. Returns false if the end is
    /// told by somebody else.
    private func takeFloor(_ ticket: Ticket) async -> Bool {
        while true {
            switch gate.voice(ticket, { $0.speak() }) {
            case .proceed: return true
            case .progress(let progress): await tell(progress: progress, ticket)
            case .wait: await life.park()
            case .cancelled, .over, nil: return false
            }
        }
    }

    /// Gives the floor away, before the provider is asked. Returns false if the run has ended instead.
    private func fallSilent(_ ticket: Ticket) async -> Bool {
        while true {
            switch gate.voice(ticket, { $0.ask() }) {
            case .proceed:
                return true
            case .progress(let progress):
                await tell(progress: progress, ticket)
            case .cancelled(let reason):
                await tellCancel(reason, hasBegun: true, ticket)
                return false
            case .wait, .over, nil:
                return false
            }
        }
    }

    // MARK: The end

    /// Ends the run with an answer, unless a cancel came first.
    func conclude(_ answer: Answer, _ inquiry: any Inquiry, _ ticket: Ticket) async {
        // Where nobody hears progress, nobody else can be speaking.
        if handlers.kinds.contains(.progress) {
            guard await takeFloor(ticket) else { return }
        }
        switch answer {
        case .value(let value): await end(.success(value), telling: .success, inquiry, ticket)
        case .end(let last): await end(.success(last), telling: [], inquiry, ticket)
        case .failure(let error, _): await end(.failure(error), telling: .error, inquiry, ticket)
        case .cancelled(let reason): await end(.cancelled(reason), telling: .cancel, inquiry, ticket)
        case .over: break
        }
    }

    /// - Parameter kind: The handlers that are to hear of the outcome, besides those of the completion.
    private func end(
        _ outcome: Life.Outcome, telling kind: HandlerKinds, _ inquiry: any Inquiry, _ ticket: Ticket
    ) async {
        if !isHeard && plan.extras == nil { return await endUnheard(outcome, inquiry, ticket) }
        let actor = handlers.actor(of: kind, else: handlers.actor(of: .completion, else: #isolation))
        guard isHere(actor) else {
            return await end(outcome, telling: kind, inquiry, ticket, on: actor)
        }
        await endHere(outcome, telling: kind, inquiry, ticket)
    }

    private func end(
        _ outcome: Life.Outcome, telling kind: HandlerKinds, _ inquiry: any Inquiry, _ ticket: Ticket,
        on actor: isolated (any Actor)?
    ) async {
        await endHere(outcome, telling: kind, inquiry, ticket)
    }

    private func endHere(
        _ outcome: Life.Outcome, telling kind: HandlerKinds, _ inquiry: any Inquiry, _ ticket: Ticket
    ) async {
        switch gate.voice(ticket, { $0.commit(isFinal: true) }) {
        case .proceed:
            inquiry.leave()
            life.settle(outcome)
            turn.begin()
            if !kind.isEmpty && handlers.kinds.contains(kind) { await tell(end: outcome) }
            if handlers.kinds.contains(.completion) { await tellCompletion() }
            turn.end()
            await depart(outcome, hasBegun: true, ticket)
        case .cancelled(let reason):
            inquiry.leave()
            await tellCancel(reason, hasBegun: true, ticket)
        default:
            break
        }
    }

    /// Ends a run that has nobody to tell and nothing to start.
    private func endUnheard(_ outcome: Life.Outcome, _ inquiry: any Inquiry, _ ticket: Ticket) async {
        switch gate.end(ticket) {
        case .proceed:
            inquiry.leave()
            engine.leave(lane)
            life.end(outcome)
        case .cancelled(let reason):
            inquiry.leave()
            await tellCancel(reason, hasBegun: true, ticket)
        default:
            break
        }
    }

    private func tell(end outcome: Life.Outcome) async {
        switch outcome {
        case .success(let value):
            for handler in handlers.successes { await handler.hear(value) }
        case .failure(let error):
            for case .error(let handler) in handlers.signals { await handler(error) }
        case .cancelled(let reason):
            for case .cancel(let handler) in handlers.signals { await handler(reason) }
        }
    }

    private func tellCompletion() async {
        for case .completion(let handler) in handlers.signals { await handler() }
    }

    /// Tells a cancel that has been decided.
    func tellCancel(_ reason: CancelReason, hasBegun: Bool, _ ticket: Ticket) async {
        life.settle(.cancelled(reason))
        turn.begin()
        await tell(end: .cancelled(reason))
        if hasBegun { await tellCompletion() }
        turn.end()
        await depart(.cancelled(reason), hasBegun: hasBegun, ticket)
    }

    /// Leaves the gate, and then starts what comes after the call.
    private func depart(_ outcome: Life.Outcome, hasBegun: Bool, _ ticket: Ticket) async {
        gate.finish(ticket)
        engine.leave(lane)
        if hasBegun, let links = plan.extras?.links, !links.isEmpty {
            // Chained calls start in a later turn, as those made by a handler do.
            turn.begin()
            for link in links where !life.isCut {
                if let next = link(outcome, plan, #isolation) { life.chain(next) }
            }
            turn.end()
        }
        life.finish()
    }
}
