import Synchronization

/// The part of an integrator that its calls hold: the executing type, the lanes and the handlers of every call.
@usableFromInline
final class IntegratorCore: Sendable {
    let type: ExecutingType
    let clock: any Clock<Duration>
    /// The executor that the calls' tasks prefer, if a test's clock asks for one.
    let executor: (any TaskExecutor)?

    private let lanes: Lanes
    /// The time since the integrator was created.
    private let elapsed: @Sendable () -> Duration
    /// `.latest(throttle:)`: the time of the last start in each lane, for starts within the interval.
    private let lastStarts = Locked([LaneKey?: Duration]())
    private let hasHandlers = Atomic(false)
    private let handlers = Locked(Registrations())

    private struct Registrations {
        var all: [(id: Int, handlers: Handlers)] = []
        var merged = Handlers()
        var lastID = 0
    }

    init(type: ExecutingType, isKeyed: Bool, clock: any Clock<Duration>) {
        self.type = type
        self.clock = clock
        elapsed = clock.stopwatch()
        executor = (clock as? any TrackedClock)?.workload
        lanes = isKeyed ? .keyed(LaneTable(type.rule)) : .single(LaneScheduler(type.rule))
    }

    /// Waits for the debounce interval, or for the rest of the throttle interval. A cancel ends the wait.
    func waitForInterval(in lane: LaneKey?) async {
        switch type.kind {
        case .newest(let debounce):
            try? await clock.pause(for: debounce)
        case .throttled(let interval):
            while !Task.isCancelled, let rest = restOfInterval(interval, in: lane) { try? await clock.pause(for: rest) }
        case .all, .one, .line:
            break
        }
    }

    /// Returns nil if a call may start now, and counts it as started.
    private func restOfInterval(_ interval: Duration, in lane: LaneKey?) -> Duration? {
        let now = elapsed()
        return lastStarts.withLock { starts in
            if let last = starts[lane], now - last < interval { return interval - (now - last) }
            starts = starts.filter { now - $0.value < interval }
            starts[lane] = now
            return nil
        }
    }

    // MARK: Handlers of every call

    /// Adds handlers to every call that is made from now on. Returns the ID for ``removeHandlers(_:)``.
    @discardableResult
    func addHandlers(_ added: Handlers) -> Int {
        defer { hasHandlers.store(true, ordering: .releasing) }
        return handlers.withLock { registrations in
            registrations.lastID += 1
            registrations.all.append((registrations.lastID, added))
            registrations.merged.append(added)
            return registrations.lastID
        }
    }

    func removeHandlers(_ id: Int) {
        // Released outside the lock: a handler may hold objects of the user.
        let removed = handlers.withLock { registrations -> (Handlers?, Handlers) in
            guard let index = registrations.all.firstIndex(where: { $0.id == id }) else { return (nil, Handlers()) }
            let removed = registrations.all.remove(at: index).handlers
            let merged = registrations.merged
            registrations.merged = Handlers()
            for registration in registrations.all { registrations.merged.append(registration.handlers) }
            return (removed, merged)
        }
        withExtendedLifetime(removed) {}
    }

    // MARK: Calls

    /// Admits a call and starts its task.
    ///
    /// - Parameters:
    ///   - rejection: The reason for which the call ends without being admitted, if any.
    ///   - willStart: Receives the execution before the first event is delivered.
    func start(
        _ call: CallState, rejecting rejection: CancelReason? = nil, isolation: isolated (any Actor)?,
        willStart: (CallExecution) -> Void = { _ in }
    ) -> CallExecution {
        let scheduler = lanes.enter(call.source.laneKey())
        let control = PauseControl.current
        let traits = prepare(call, control)
        if traits.contains(.observers) { call.report(.made(call.source)) }
        let kind = rejection.map { .rejected($0) } ?? traits.submissionKind
        if rejection == nil && kind != .held { call.joinRequest(of: scheduler.lane) }
        let (id, admission) = scheduler.submit(call, kind, isolation: isolation)
        let execution = CallExecution(call, scheduler, id, traits, control)
        willStart(execution)
        let work = CallTaskWork(execution: execution, admission: admission)
        call.attach(
            rejection == nil
                ? LibraryTask.start(work, isolation: isolation) : LibraryTask.start(work, isolation: nil))
        execution.prepareCancellation(isolation: isolation)
        return execution
    }

    /// Adds the integrator's handlers before the call's own.
    private func prepare(_ call: CallState, _ control: PauseControl?) -> CallExecution.Traits {
        if hasHandlers.load(ordering: .acquiring) {
            let shared = handlers.withLock { $0.merged }
            let own = call.configuration { configuration in
                defer { configuration.handlers = shared.followed(by: configuration.handlers) }
                return configuration
            }
            if shared.error.contains(where: { $0.isRepeating }) {
                call.storage.withLock { $0.repeatedConfiguration = own }
            }
        }
        return call.storage.withLock { storage in
            storage.control = control
            if storage.repeatedConfiguration == nil,
                storage.configuration.handlers.error.contains(where: { $0.isRepeating })
            {
                storage.repeatedConfiguration = storage.configuration
            }
            return CallExecution.Traits(&storage.configuration)
        }
    }

    func leave(_ scheduler: LaneScheduler) {
        lanes.leave(scheduler)
    }

    /// The number of calls that are neither admitted nor rejected.
    var waitingCount: Int { lanes.schedulers.reduce(0) { $0 + $1.waitingCount } }

    // MARK: Cancellation

    func cancelAll(isolation: isolated (any Actor)?) {
        LaneScheduler.cancelAll(of: lanes.schedulers, isolation: isolation)
    }

    func release() {
        lanes.release()
    }
}
