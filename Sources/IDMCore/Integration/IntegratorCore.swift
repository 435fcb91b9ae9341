import Synchronization

/// The part of an integrator that its calls hold: the executing type, the lanes and the handlers of every call.
@usableFromInline
final class IntegratorCore: Sendable {
    let type: ExecutingType
    let clock: any Clock<Duration>
    /// The executor that the calls' tasks prefer, if a test's clock asks for one.
    let executor: (any TaskExecutor)?

    private let lanes: Lanes
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
        executor = (clock as? any WatchedClock)?.workload
        lanes = isKeyed ? .keyed(LaneTable(type.rule)) : .single(LaneScheduler(type.rule))
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

    /// Returns the configuration with the integrator's handlers before the call's own.
    private func complete(_ configuration: CallConfiguration?) -> CallConfiguration? {
        guard hasHandlers.load(ordering: .acquiring) else { return configuration }
        var contents = configuration?.read { $0 } ?? CallConfiguration.Contents()
        let own = contents.handlers
        contents.handlers = handlers.withLock { $0.merged }
        contents.handlers.append(own)
        return CallConfiguration(contents)
    }

    // MARK: Calls

    /// Admits a call and starts its task.
    ///
    /// - Parameters:
    ///   - rejection: The reason for which the call ends without being admitted, if any.
    ///   - willStart: Receives the call before its first event is delivered.
    func call(
        _ source: any CallSource, _ configuration: CallConfiguration?,
        rejecting rejection: CancelReason? = nil, isolation: isolated (any Actor)?,
        willStart: (CallHandle) -> Void = { _ in }
    ) -> CallHandle {
        let scheduler = lanes.enter(source.laneKey())
        let execution = CallExecution(
            core: self, scheduler: scheduler, source: source, configuration: complete(configuration))
        execution.report(.made(source))
        let kind = rejection.map { .rejected($0) } ?? execution.submissionKind
        if rejection == nil && kind != .held { execution.joinRequest() }
        let (id, admission) = scheduler.submit(execution, kind, isolation: isolation)
        let call = CallHandle(execution: execution, id: id)
        willStart(call)
        let work = CallTaskWork(execution: execution, id: id, admission: admission)
        execution.attach(
            rejection == nil
                ? LibraryTask.start(work, isolation: isolation) : LibraryTask.start(work, isolation: nil))
        return call
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
