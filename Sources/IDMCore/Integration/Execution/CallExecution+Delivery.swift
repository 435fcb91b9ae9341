/// How a run speaks to its handlers: one at a time, each on the actor on which it was written.
///
/// Whether something may still be told is asked in the turn in which it is heard: on the actor of the first handler,
/// the gate is asked and then that handler is called, with no suspension between. The functions here that end in `Here`
/// have to be called on that actor. Handlers may be on actors that a test kit can't watch, so it is told of the way
/// there and back: a trip.
extension CallExecution {
    // MARK: The beginning

    /// Tells the beginning. Returns false if the run has ended instead.
    ///
    /// - Parameter hasWaited: Whether the run has waited for its turn, and waits for a resume as well.
    @inline(never)
    func begin(_ ticket: CallID, hasWaited: Bool) async -> Bool {
        let trip = LibraryTask.depart()
        defer { trip?.workArrived() }
        if handlers.areHere(here()) { return await beginHere(ticket, hasWaited, trip) }
        return await begin(ticket, hasWaited, trip, on: handlers.actor(of: .beginning, else: #isolation))
    }

    private func begin(
        _ ticket: CallID, _ hasWaited: Bool, _ trip: (any WorkWatch)?, on actor: isolated (any Actor)?
    ) async -> Bool {
        await beginHere(ticket, hasWaited, trip)
    }

    @inline(__always)
    private func beginHere(_ ticket: CallID, _ hasWaited: Bool, _ trip: (any WorkWatch)?) async -> Bool {
        // Here, for it may be paused on the way to this actor. One that was turned away tells so at once.
        if hasWaited, control?.isPaused == true, gate.voice(ticket, { $0.mayBegin }) == true {
            await hold(trip)
        }
        let isHeard = handlers.kinds.contains(.beginning)
        switch gate.voice(ticket, { isHeard ? $0.begin() : $0.beginAndAsk() }) {
        case .proceed:
            report(.began)
            guard isHeard else { return true }
            turn.begin()
            for index in handlers.indices where handlers.kind(at: index) == .beginning {
                if case .beginning(let handler) = handlers[index] { await handler() }
            }
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
    @inline(never)
    func tell(value: any Sendable, _ ticket: CallID) async -> Bool {
        guard await takeFloor(ticket) else { return false }
        let trip = LibraryTask.depart()
        defer { trip?.workArrived() }
        if handlers.areHere(here()) { return await tellHere(value, ticket, trip) }
        return await tell(value, ticket, trip, on: handlers.actor(of: .success, else: #isolation))
    }

    private func tell(
        _ value: any Sendable, _ ticket: CallID, _ trip: (any WorkWatch)?, on actor: isolated (any Actor)?
    ) async -> Bool {
        await tellHere(value, ticket, trip)
    }

    private func tellHere(_ value: any Sendable, _ ticket: CallID, _ trip: (any WorkWatch)?) async -> Bool {
        await hold(trip)
        switch gate.voice(ticket, { $0.commit(isFinal: false) }) {
        case .proceed:
            report(.heard)
            turn.begin()
            await tell(.success, of: .success(value))
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
    func tell(retry attempt: Int, after error: any Error, _ ticket: CallID) async -> Bool {
        guard await takeFloor(ticket) else { return false }
        report(.retried(attempt: attempt))
        let trip = LibraryTask.depart()
        defer { trip?.workArrived() }
        for index in handlers.indices where handlers.kind(at: index) == .retry {
            guard case .retry(let handler) = handlers[index] else { continue }
            await tell(ticket, on: handler.isolation, after: trip) { await handler(attempt, error) }
        }
        return await fallSilent(ticket)
    }

    /// Tells the progress that has been reported, until there is none left or somebody else is to speak.
    ///
    /// Asks for the word where it is heard first, and not on the way there: a run that answers in the turn in which it
    /// was called mustn't find that somebody else speaks.
    func pump(_ ticket: CallID) async {
        let trip = LibraryTask.depart()
        defer { trip?.workArrived() }
        await pump(ticket, on: handlers.actor(of: .progress, else: nil))
    }

    private func pump(_ ticket: CallID, on actor: isolated (any Actor)?) async {
        guard var progress = gate.voice(ticket, { $0.pump() }) ?? nil else { return }
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

    private func tell(progress: IntegrationProgress, _ ticket: CallID) async {
        for index in handlers.indices where handlers.kind(at: index) == .progress {
            guard case .progress(let handler) = handlers[index] else { continue }
            await tell(ticket, on: handler.isolation) { await handler(progress) }
        }
    }

    /// Calls a handler of an error that isn't the answer, unless the run was cancelled.
    private func tell(
        _ ticket: CallID, on actor: isolated (any Actor)?, after trip: (any WorkWatch)?, _ handler: () async -> Void
    ) async {
        await hold(trip)
        await tell(ticket, on: actor, handler)
    }

    /// Calls a handler of something that isn't an answer, unless the run was cancelled.
    private func tell(_ ticket: CallID, on actor: isolated (any Actor)?, _ handler: () async -> Void) async {
        guard gate.voice(ticket, { $0.isHeard }) == true else { return }
        turn.begin()
        await handler()
        turn.end()
    }

    // MARK: The floor

    /// Waits until the run's own task may speak, and tells the progress that came before. What is reported from then on
    /// comes after the answer, or a busy reporter could put it off for ever. Returns false if the end is told by
    /// somebody else.
    @inline(never)
    private func takeFloor(_ ticket: CallID) async -> Bool {
        while true {
            switch gate.voice(ticket, { $0.speak() }) {
            case .proceed:
                return true
            case .progress(let progress):
                await tell(progress: progress, ticket)
                return true
            case .wait:
                await life.park()
            case .proceedWithPump, .cancelled, .over, nil:
                return false
            }
        }
    }

    /// Gives the floor away, before the provider is asked. Returns false if the run has ended instead.
    @inline(__always)
    private func fallSilent(_ ticket: CallID) async -> Bool {
        let turn = gate.voice(ticket) { $0.ask() }
        return if turn == .proceed { true } else { await fallSilent(turn, ticket) }
    }

    @inline(never)
    private func fallSilent(_ turn: DeliveryStateMachine.Turn?, _ ticket: CallID) async -> Bool {
        switch turn {
        case .proceed:
            return true
        case .proceedWithPump:
            sendForPump(ticket)
            return true
        case .progress(let progress):
            await tell(progress: progress, ticket)
            return await fallSilent(gate.voice(ticket) { $0.ask(hasTold: true) }, ticket)
        case .cancelled(let reason):
            await tellCancel(reason, hasBegun: true, ticket)
            return false
        case .wait, .over, nil:
            return false
        }
    }

    // MARK: The end

    /// Ends the run with an answer, unless a cancel came first.
    @inline(__always)
    func conclude(_ answer: Answer, _ inquiry: any Inquiry, _ ticket: CallID) async {
        guard isHeard else {
            await hold(after: inquiry)
            return endUnheard(answer, inquiry, ticket)
        }
        // Where nobody hears progress, nobody else can be speaking.
        if handlers.kinds.contains(.progress) {
            guard await takeFloor(ticket) else { return }
        }
        let trip = LibraryTask.depart()
        defer { trip?.workArrived() }
        if handlers.areHere(here()) { return await endHere(answer, inquiry, ticket, trip) }
        let actor = handlers.actor(of: answer.hearers, else: handlers.actor(of: .completion, else: #isolation))
        await end(answer, inquiry, ticket, trip, on: actor)
    }

    private func end(
        _ answer: Answer, _ inquiry: any Inquiry, _ ticket: CallID, _ trip: (any WorkWatch)?,
        on actor: isolated (any Actor)?
    ) async {
        await endHere(answer, inquiry, ticket, trip)
    }

    @inline(never)
    private func endHere(
        _ answer: Answer, _ inquiry: any Inquiry, _ ticket: CallID, _ trip: (any WorkWatch)?
    ) async {
        // Here, and not before: it may be paused on the way to this actor.
        await hold(trip, after: inquiry)
        switch gate.voice(ticket, { $0.commit(isFinal: true) }) {
        case .proceed:
            inquiry.leave()
            life.settle(answer.outcome)
            turn.begin()
            await tell(answer.hearers, .completion, of: answer.outcome)
            turn.end()
            depart(answer.outcome, hasBegun: true, ticket, isolation: #isolation)
        case .cancelled(let reason):
            inquiry.leave()
            await tellCancel(reason, hasBegun: true, ticket)
        default:
            break
        }
    }

    /// Ends a run that has nobody to tell and nothing to start.
    private func endUnheard(_ answer: Answer, _ inquiry: any Inquiry, _ ticket: CallID) {
        switch gate.end(ticket) {
        case .proceed:
            inquiry.leave()
            close(answer.outcome)
        case .cancelled(let reason):
            inquiry.leave()
            close(.cancelled(reason))
        default:
            break
        }
    }

    /// Takes note of the end of a run that has nobody to tell and has left the gate.
    func close(_ outcome: CallState.Outcome) {
        engine.leave(gate)
        life.end(outcome)
    }

    /// Lets the handlers of one kind hear their part of an outcome, and then those of another.
    private func tell(_ kind: HandlerKinds, _ next: HandlerKinds = [], of outcome: CallState.Outcome) async {
        var (kind, next) = (kind, next)
        while true {
            if !handlers.kinds.isDisjoint(with: kind) {
                for index in handlers.indices where handlers.kind(at: index) == kind {
                    await handlers[index].hear(outcome)
                }
            }
            if next.isEmpty { return }
            (kind, next) = (next, [])
        }
    }

    /// Tells a cancel that has been decided.
    @inline(never)
    func tellCancel(_ reason: CancelReason, hasBegun: Bool, _ ticket: CallID) async {
        let trip = LibraryTask.depart()
        defer { trip?.workArrived() }
        if !hasBegun { report(.turnedAway) }
        life.settle(.cancelled(reason))
        turn.begin()
        await tell(.cancel, hasBegun ? .completion : [], of: .cancelled(reason))
        turn.end()
        depart(.cancelled(reason), hasBegun: hasBegun, ticket, isolation: #isolation)
    }

    /// Leaves the gate, and then starts what comes after the call.
    private func depart(
        _ outcome: CallState.Outcome, hasBegun: Bool, _ ticket: CallID, isolation: isolated (any Actor)?
    ) {
        report(.ended(outcome))
        gate.finish(ticket)
        engine.leave(gate)
        if hasBegun, let plan, let links = plan.extras?.links, !links.isEmpty {
            // Chained calls start in a later turn, as those made by a handler do.
            turn.begin()
            for link in links where !life.isCut {
                link(outcome, plan, life, isolation)
            }
            turn.end()
        }
        life.finish()
    }
}
