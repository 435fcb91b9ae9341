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
        var all: [(id: Int, handlers: SharedHandlers)] = []
        var merged = SharedHandlers()
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
        case .latest(let debounce):
            try? await clock.pause(for: debounce)
        case .throttled(let interval):
            while !Task.isCancelled, let rest = restOfInterval(interval, in: lane) { try? await clock.pause(for: rest) }
        case .default, .only, .queue:
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
    func addHandlers(_ added: SharedHandlers) -> Int {
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
        let removed = handlers.withLock { registrations -> (SharedHandlers?, SharedHandlers) in
            guard let index = registrations.all.firstIndex(where: { $0.id == id }) else {
                return (nil, SharedHandlers())
            }
            let removed = registrations.all.remove(at: index).handlers
            let merged = registrations.merged
            registrations.merged = SharedHandlers()
            for registration in registrations.all { registrations.merged.append(registration.handlers) }
            return (removed, merged)
        }
        withExtendedLifetime(removed) {}
    }

    // MARK: Calls

    /// Submits a call to its lane, and starts its task. The call may have to wait, or be rejected.
    ///
    /// - Parameters:
    ///   - rejection: The reason for which the call ends without being admitted, if any.
    ///   - willStart: Receives the execution before the first event is delivered.
    func start(
        _ source: any CallSource, _ configuration: consuming CallConfiguration = CallConfiguration(),
        rejecting rejection: CancelReason? = nil, isolation: isolated (any Actor)?,
        willStart: (CallExecution) -> Void = { _ in }
    ) -> CallExecution {
        var configuration = configuration
        let repeated = configuration
        if hasHandlers.load(ordering: .acquiring) { addSharedHandlers(to: &configuration) }
        let scheduler = lanes.enter(source.laneKey())
        let control = PauseControl.current
        let traits = CallExecution.Traits(configuration, isPausable: control != nil, startsOn: isolation)
        let identity = traits.contains(.observers) ? CallIdentity() : nil
        identity?.report(.made(source), to: configuration.options.observers)
        let kind = rejection.map { .rejected($0) } ?? traits.submissionKind
        let joins = type.isJoining && rejection == nil && kind != .held
        let attempt = joins ? source.joinRequest(of: scheduler.lane) : nil
        let (execution, admission) = scheduler.submit(kind, isolation: isolation) { id in
            CallExecution(
                source, self, scheduler, id, traits, control, identity,
                CallState(
                    configuration,
                    repeating: configuration.handlers.events.contains(.repetition) ? repeated : nil,
                    joinedAttempt: attempt))
        }
        willStart(execution)
        let work = CallTaskWork(execution: execution, admission: admission)
        execution.attach(LibraryTask.start(work, isolation: isolation))
        execution.prepareCancellation(isolation: isolation)
        return execution
    }

    /// Adds the integrator's handlers before the call's own.
    private func addSharedHandlers(to configuration: inout CallConfiguration) {
        var shared = handlers.withLock { $0.merged }
        shared.append(configuration.shared)
        configuration.shared = shared
    }

    func leave(_ scheduler: LaneScheduler) {
        lanes.leave(scheduler)
    }

    /// The number of calls that are held, debouncing or in a queue.
    var waitingCount: Int { lanes.schedulers.reduce(0) { $0 + $1.waitingCount } }

    // MARK: Cancellation

    func cancelAll(isolation: isolated (any Actor)?) {
        LaneScheduler.cancelAll(of: lanes.schedulers, isolation: isolation)
    }

    func release() {
        lanes.release()
    }
}
