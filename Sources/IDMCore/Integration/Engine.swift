import Synchronization

/// What an integrator and its runs share. Runs hold it; the integrator releases it when it goes.
final class Engine: Sendable {
    let type: ExecutingType
    let clock: any Clock<Duration>
    /// What the runs' tasks prefer, if the clock asks for it.
    let executor: (any TaskExecutor)?

    private let lanes: Lanes
    private let hasHandlers = Atomic(false)
    private let handlers = Mutex(Handlers())

    init(type: ExecutingType, isKeyed: Bool, clock: any Clock<Duration>) {
        self.type = type
        self.clock = clock
        executor = (clock as? any WatchedClock)?.workload
        lanes = isKeyed ? .keyed(LaneTable(type.rule)) : .single(Gate(type.rule))
    }

    // MARK: Handlers of every call

    /// Changes the handlers that hear every call made from now on.
    func changeHandlers(_ change: (inout Handlers) -> Void) {
        handlers.withLock { change(&$0) }
        hasHandlers.store(true, ordering: .releasing)
    }

    /// The handlers of a call: those of the integrator, and then its own.
    func handlers(before own: Handlers) -> Handlers {
        guard hasHandlers.load(ordering: .acquiring) else { return own }
        return handlers.withLock { $0 }.followed(by: own)
    }

    // MARK: Calls

    /// Admits a call and starts its task, both before it returns.
    func call(
        _ source: consuming any InquirySource, _ plan: consuming CallPlan, lane: LaneKey?,
        isolation: isolated (any Actor)?
    ) -> CallHandle {
        let gate = lanes.enter(lane)
        let run = Run(engine: self, gate: gate, lane: lane, source: source, plan: plan)
        let (ticket, entrance) = gate.enter(run, run.way, isolation: isolation)
        let drive = RunDrive(run: run, ticket: ticket, entrance: entrance)
        let work = LibraryTask.start(drive, turn: run.turn, isolation: isolation)
        let outcome = run.life.attach(work)
        return CallHandle(life: run.life, gate: gate, ticket: ticket, outcome: outcome)
    }

    func leave(_ lane: LaneKey?) {
        lanes.leave(lane)
    }

    // MARK: The end

    func cancelAll(isolation: isolated (any Actor)?) {
        lanes.cancelAll(isolation: isolation)
    }

    func release() {
        lanes.release()
    }
}

/// What is needed to follow a call and to cancel it.
struct CallHandle: Sendable {
    let life: Life
    let gate: Gate
    let ticket: Ticket
    /// How the call ended, if it had when `call()` returned.
    let outcome: Life.Outcome?

    func cancel(isolation: isolated (any Actor)?) {
        gate.cancel(ticket, .cancelled, isolation: isolation)
    }
}
