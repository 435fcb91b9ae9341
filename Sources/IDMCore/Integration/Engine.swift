import Synchronization

/// What an integrator and its runs share. Runs hold it; the integrator releases it when it goes.
@usableFromInline
final class Engine: Sendable {
    let type: ExecutingType
    let clock: any Clock<Duration>

    private let lanes: Lanes
    private let hasHandlers = Atomic(false)
    private let handlers = Mutex(Handlers())

    init(type: ExecutingType, isKeyed: Bool, clock: any Clock<Duration>) {
        self.type = type
        self.clock = clock
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

    /// Admits a call, or turns it away, and starts its task, all before it returns.
    func call(
        _ source: any InquirySource, _ plan: CallPlan, turnedAway reason: CancelReason? = nil,
        isolation: isolated (any Actor)?
    ) -> CallHandle {
        let gate = lanes.enter(source.lane())
        let run = Run(gate: gate, source: source, plan: plan)
        let (ticket, entrance) = gate.enter(run, reason.map { .turnedAway($0) } ?? run.way, isolation: isolation)
        let drive = RunDrive(run: run, ticket: ticket, entrance: entrance)
        run.life.attach(LibraryTask.start(drive, turn: run.turn, isolation: isolation))
        return CallHandle(life: run.life, gate: gate, ticket: ticket)
    }

    func leave(_ gate: Gate) {
        lanes.leave(gate)
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

    func cancel(isolation: isolated (any Actor)?) {
        gate.cancel(ticket, .cancelled, isolation: isolation)
    }
}
