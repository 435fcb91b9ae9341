import Synchronization

/// What an integrator and its runs share. Runs hold it; the integrator releases it when it goes.
@usableFromInline
final class IntegratorCore: Sendable {
    let type: ExecutingType
    let clock: any Clock<Duration>
    /// What the runs' tasks prefer, if the clock asks for it.
    let executor: (any TaskExecutor)?

    /// Whether calls share the request that runs.
    let sharesRequests: Bool

    private let lanes: Lanes
    /// The gate that lets calls in or turns them away as they come, if it is one.
    private let promptGate: LaneScheduler?
    private let hasHandlers = Atomic(false)
    private let handlers = Locked(Handlers())

    init(type: ExecutingType, isKeyed: Bool, clock: any Clock<Duration>) {
        self.type = type
        self.clock = clock
        sharesRequests = type.isJoining
        executor = (clock as? any WatchedClock)?.workload
        lanes = isKeyed ? .keyed(LaneTable(type.rule)) : .single(LaneScheduler(type.rule))
        promptGate = if case .single(let gate) = lanes, type.decidesAtOnce { gate } else { nil }
    }

    /// The engines of calls that belong to no integrator. Several, so that calls which have nothing to do with one
    /// another seldom meet at one lock.
    private static let common = (0..<16).map { _ in
        IntegratorCore(type: .default, isKeyed: false, clock: ContinuousClock())
    }

    /// The engine of a call that belongs to no integrator: one of several, the same for the same source.
    static func common(for source: some CallSource) -> IntegratorCore {
        // What is made one after the other lies some lines of memory apart.
        common[Int((UInt(bitPattern: ObjectIdentifier(source)) >> 6) % UInt(common.count))]
    }

    // MARK: Handlers of every call

    /// Changes the handlers that hear every call made from now on.
    func changeHandlers(_ change: (inout Handlers) -> Void) {
        handlers.withLock { change(&$0) }
        hasHandlers.store(true, ordering: .releasing)
    }

    /// The handlers of a call: those of the integrator, and then its own.
    func handlers(before own: consuming Handlers) -> Handlers {
        guard hasHandlers.load(ordering: .acquiring) else { return own }
        return handlers.withLock { $0 }.followed(by: own)
    }

    // MARK: Calls

    /// Admits a call and starts its task, both before it returns.
    ///
    /// - Parameter control: What pauses the call, if it isn't what pauses the caller.
    func call(
        _ source: consuming any CallSource, _ plan: consuming CallConfiguration, pausedBy control: PauseControl? = nil,
        isolation: isolated (any Actor)?, willStart: (CallHandle) -> Void = { _ in }
    ) -> CallHandle {
        if let gate = promptGate, plan.isEmpty, !hasHandlers.load(ordering: .acquiring) {
            let inquiry = source.inquire(at: gate)
            if !inquiry.isStream { return start(inquiry, at: gate, control, isolation: isolation, willStart) }
        }
        let gate = lanes.enter(source.lane())
        let run = CallExecution(engine: self, gate: gate, source: source, plan: plan, pausedBy: control)
        let way = run.way
        if sharesRequests && way != .held { run.reserve() }
        return start(run, way, control, isolation: isolation, willStart)
    }

    /// Starts a call of which nobody hears.
    private func start(
        _ inquiry: any Inquiry, at gate: LaneScheduler, _ control: PauseControl?, isolation: isolated (any Actor)?,
        _ willStart: (CallHandle) -> Void
    ) -> CallHandle {
        let life = CallState()
        let (ticket, entrance) = gate.enter(life, .unheard, isolation: isolation)
        let handle = CallHandle(life: life, gate: gate, ticket: ticket)
        willStart(handle)
        guard entrance == .begun else {
            if case .cancelled(let reason) = gate.end(ticket, hasBegun: false) { life.end(.cancelled(reason)) }
            return handle
        }
        let run = QuietRun(engine: self, gate: gate, ticket: ticket, life: life, inquiry: inquiry)
        life.attach(start(run, control, isolation: isolation))
        return handle
    }

    /// Turns a call away, and tells it so in a later turn.
    func turnAway(_ source: any CallSource, _ plan: CallConfiguration, _ reason: CancelReason) -> CallHandle {
        let gate = lanes.enter(source.lane())
        let run = CallExecution(engine: self, gate: gate, source: source, plan: plan, pausedBy: nil)
        return start(run, .turnedAway(reason), nil, isolation: nil) { _ in }
    }

    private func start(
        _ run: CallExecution, _ way: SubmissionKind, _ control: PauseControl?, isolation: isolated (any Actor)?,
        _ willStart: (CallHandle) -> Void
    ) -> CallHandle {
        run.report(.made(run.source))
        let (ticket, entrance) = run.gate.enter(run, way, isolation: isolation)
        let handle = CallHandle(life: run.life, gate: run.gate, ticket: ticket)
        willStart(handle)
        let drive = RunDrive(run: run, ticket: ticket, entrance: entrance)
        run.life.attach(start(drive, control, isolation: isolation))
        return handle
    }

    private func start(
        _ work: some TaskWork, _ control: PauseControl?, isolation: isolated (any Actor)?
    ) -> Task<Void, Never> {
        guard let control else { return LibraryTask.start(work, isolation: isolation) }
        return LibraryTask.start(PausableWork(work: work, control: control), isolation: isolation)
    }

    func leave(_ gate: LaneScheduler) {
        lanes.leave(gate)
    }

    /// How many calls have not been let in or turned away yet.
    var waitingCount: Int { lanes.waitingCount }

    // MARK: The end

    func cancelAll(isolation: isolated (any Actor)?) {
        lanes.cancelAll(isolation: isolation)
    }

    func release() {
        lanes.release()
    }
}

/// Work that binds what pauses it by itself. Bound by whoever starts it, the control would have to be copied into its
/// task.
private struct PausableWork<Work: TaskWork>: TaskWork {
    let work: Work
    let control: PauseControl

    var executor: (any TaskExecutor)? { work.executor }

    func perform() async {
        await control.bind { await work.perform() }
    }
}

/// What is needed to follow a call and to cancel it.
struct CallHandle: Sendable {
    let life: CallState
    let gate: LaneScheduler
    let ticket: CallID

    /// Cancels the call alone. Returns false if its end was decided before.
    @discardableResult
    func cancel(isolation: isolated (any Actor)?) -> Bool {
        gate.cancel(ticket, .cancelled, isolation: isolation)
    }

    /// Cancels the call, and the one that it waits for. After its end, those chained to it.
    func cancelChain(isolation: isolated (any Actor)?) {
        cancelAll(cancelLink(isolation: isolation))
    }

    /// Cancels the call, and the one that it waits for. After its end it does nothing, and what is chained goes on.
    func cancelBeforeEnd(isolation: isolated (any Actor)?) {
        if cancel(isolation: isolation) { cancelAll(life.abandonPredecessors()) }
    }

    private func cancelAll(_ neighbors: [CallHandle]) {
        var neighbors = neighbors
        // Those of one call after those of another, and not inside: a chain may be longer than the stack.
        while let next = neighbors.popLast() { neighbors += next.cancelLink(isolation: nil) }
    }

    /// Cancels the call alone. Returns those that are to be cancelled with it, the last one first.
    private func cancelLink(isolation: isolated (any Actor)?) -> [CallHandle] {
        // The gate has the word, and not the outcome: an end that is decided on another thread is known here later. And
        // the end that this cancel makes is one like any other, and lets the chain go on.
        cancel(isolation: isolation) ? life.abandonPredecessors() : life.cutChain().reversed()
    }
}
