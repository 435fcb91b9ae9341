import Synchronization

/// What the outside can see of a run, and who is to be woken when that changes. Outlives the run, so that a task which
/// is kept does not keep the handlers.
final class CallState: Sendable {
    typealias Outcome = IntegrationOutcome<any Sendable>

    private struct State {
        var outcome: Outcome?
        var work: Task<Void, Never>?
        var parking = Parking.free
        /// The first who wants to be called back. Most runs have no other.
        var whenFinished: (@Sendable () -> Void)?
        var company: Company?

        /// Everybody who has to do with the run from outside, made when the first one comes.
        mutating func withCompany<R>(_ body: (Company) -> R) -> R {
            let company = company ?? Company()
            self.company = company
            return body(company)
        }
    }

    /// Who waits for a run, and which calls belong to it. Most runs have none of it. To be used under the lock.
    private final class Company {
        /// The calls that the run has made to come before it, and after it.
        var predecessors: [CallHandle] = []
        var chained: [CallHandle] = []
        /// How many of the chained ones that tell the same handlers again are still to be made.
        var recallsToCome = 0
        var isAbandoned = false
        var isCut = false
        var waiting = Waiters<Outcome?>()
        var finishing = Waiters<Void>()
        var whenFinished: [@Sendable () -> Void] = []

        deinit {
            // Most have none: somebody has waited for the run, and that is all.
            guard !predecessors.isEmpty || !chained.isEmpty else { return }
            var neighbors: [CallHandle]? = predecessors + chained
            (predecessors, chained) = ([], [])
            Unlinking.letGo(of: &neighbors)
        }
    }

    /// Those who wait for the last handler. To be told outside the lock.
    private struct Finish {
        let waiting: [WatchedContinuation<Void, Never>]
        let first: (@Sendable () -> Void)?
        let others: [@Sendable () -> Void]

        func announce() {
            for continuation in waiting { continuation.resume() }
            first?()
            for callback in others { callback() }
        }
    }

    /// Where the run's own task waits for its turn. A wake that comes before the wait is kept.
    private enum Parking {
        case free
        case woken
        case parked(WatchedContinuation<Void, Never>)
    }

    private let state = Locked(State())
    /// Written under the lock. Read without it, they may be late. A run that is cancelled has stopped before it has
    /// finished, and whoever sees the second sees the first.
    private let hasStopped = Atomic(false)
    private let hasFinished = Atomic(false)

    // MARK: The work

    /// Takes the task that does the work, and cancels it if the run was stopped before.
    func attach(_ work: Task<Void, Never>) {
        // The run of a provider that answers at once is over by now. So is one that was cancelled meanwhile, but its
        // provider may still be at work.
        if !hasFinished.load(ordering: .acquiring) {
            state.withLock { state in
                if !isFinished { state.work = work }
            }
        }
        if isStopped { work.cancel() }
    }

    /// Whether the work has been stopped.
    var isStopped: Bool {
        hasStopped.load(ordering: .acquiring)
    }

    /// Cancels the task that does the work.
    func stop() {
        state.withLock { state in
            hasStopped.store(true, ordering: .releasing)
            return state.work
        }?.cancel()
    }

    /// Waits to be woken.
    ///
    /// Does by itself what `LibraryTask.wait` does: with that function in between, each of the thousands that may wait
    /// here kept a frame half as large again.
    @inline(never)
    func park() async {
        await withUnsafeContinuation { (base: UnsafeContinuation<Void, Never>) in
            let continuation = WatchedContinuation(base, LibraryTask.watch)
            let isWoken = state.withLock { state in
                if case .woken = state.parking {
                    state.parking = .free
                    return true
                }
                state.parking = .parked(continuation)
                return false
            }
            if isWoken { continuation.resume() }
        }
        LibraryTask.watch?.workArrived()
    }

    /// Wakes the task that has parked, or is about to.
    func wake() {
        let parked: WatchedContinuation<Void, Never>? = state.withLock { state in
            guard case .parked(let continuation) = state.parking else {
                state.parking = .woken
                return nil
            }
            state.parking = .free
            return continuation
        }
        parked?.resume()
    }

    // MARK: The end

    private var isFinished: Bool { hasFinished.load(ordering: .relaxed) }

    /// The outcome, as soon as the end is decided.
    var outcome: Outcome? {
        state.withLock { $0.outcome }
    }

    /// Takes the outcome.
    func settle(_ outcome: Outcome) {
        let waiting = state.withLock { state in
            state.outcome = outcome
            return state.company?.waiting.removeAll()
        }
        for continuation in waiting ?? [] { continuation.resume(returning: outcome) }
    }

    /// Takes the outcome of a run that has no handlers left to call.
    func end(_ outcome: Outcome) {
        settle(outcome)
        finish()
    }

    /// Takes note that the last handler has run.
    func finish() {
        state.withLock { finish(&$0) }?.announce()
    }

    private func finish(_ state: inout State) -> Finish? {
        hasFinished.store(true, ordering: .releasing)
        state.work = nil
        guard state.whenFinished != nil || state.company != nil else { return nil }
        defer {
            state.whenFinished = nil
            state.company?.whenFinished = []
        }
        return Finish(
            waiting: state.company?.finishing.removeAll() ?? [], first: state.whenFinished,
            others: state.company?.whenFinished ?? [])
    }

    /// Calls back when the last handler has run: from wherever that is, or at once if it has.
    func whenFinished(_ callback: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            guard !isFinished else { return true }
            if state.whenFinished == nil {
                state.whenFinished = callback
            } else {
                state.withCompany { $0.whenFinished.append(callback) }
            }
            return false
        }
        if isOver { callback() }
    }

    /// Waits for the outcome, whether the awaiting task is cancelled or not. It is never nil.
    func waitForDecision() async -> Outcome? {
        if let outcome { return outcome }
        return await addWaiter(newWaiter(), untilCancelled: false)
    }

    /// Waits for the outcome. Throws `CancellationError` if and only if the awaiting task is cancelled: at once while
    /// it waits, and also if the outcome is there by then.
    ///
    /// - Parameter onCancel: Happens if it is cancelled while it waits, before it hears of that.
    @inline(__always)
    func waitForOutcome(onCancel: @Sendable () -> Void = {}) async throws -> Outcome {
        var outcome = outcome
        if outcome == nil {
            let id = newWaiter()
            outcome = await LibraryTask.hearingCancel {
                await addWaiter(id, untilCancelled: true)
            } onCancel: {
                let waiter = state.withLock { $0.company?.waiting.remove(id) }
                // Whoever waited can't go on before this returns anyhow: the runtime holds its task meanwhile.
                onCancel()
                waiter?.resume(returning: nil)
            }
        }
        try Task.checkCancellation()
        guard let outcome else { throw CancellationError() }
        return outcome
    }

    private func newWaiter() -> Int {
        state.withLock { $0.withCompany { $0.waiting.newID() } }
    }

    private func addWaiter(_ id: Int, untilCancelled: Bool) async -> Outcome? {
        await LibraryTask.wait { continuation in
            let answer: Outcome?? = state.withLock { state in
                if let outcome = state.outcome { return .some(outcome) }
                // Asked under the lock: a cancel that comes later finds the waiter, one that came before is seen here.
                if untilCancelled && Task.isCancelled { return .some(nil) }
                state.withCompany { $0.waiting.add(continuation, id) }
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// Waits until the last handler has run, and everything chained to it.
    func waitForFinish() async {
        await LibraryTask.wait { continuation in
            let isOver = state.withLock { state in
                if !isFinished { state.withCompany { $0.finishing.add(continuation, $0.finishing.newID()) } }
                return isFinished
            }
            if isOver { continuation.resume() }
        }
        for call in neighbors { await call.life.waitForFinish() }
    }

    /// Calls back when ``waitForFinish()`` would return.
    func whenAllFinished(_ callback: @escaping @Sendable () -> Void) {
        whenFinished { [self] in
            let neighbors = neighbors
            guard !neighbors.isEmpty else { return callback() }
            // A task, and not one callback inside the other: a chain may be longer than the stack. It holds nothing of
            // this run, of which the outcome may be large.
            LibraryTask.startLater { _ in
                for call in neighbors { await call.life.waitForFinish() }
                callback()
            }
        }
    }

    /// The calls that come before this run and after it. All are known when it has finished.
    private var neighbors: [CallHandle] {
        state.withLock { ($0.company?.predecessors ?? []) + ($0.company?.chained ?? []) }
    }

    // MARK: The chain

    /// The outcome, unless other calls come before or after this one.
    var lastWord: Outcome? {
        state.withLock { state in
            if let company = state.company, !company.predecessors.isEmpty || !company.chained.isEmpty { return nil }
            return state.outcome
        }
    }

    /// Whether calls may be chained.
    var isCut: Bool {
        state.withLock { $0.company?.isCut ?? false }
    }

    /// What a chained call has to do with the run.
    enum ChainKind {
        case next
        /// It tells the run's handlers again.
        case recall
    }

    /// Takes a task that is chained to this run, before anything of it is heard. It is held until it has run; one that
    /// comes after the cut is cancelled.
    func chain(_ task: any ChainedTask, as kind: ChainKind = .next) {
        task.hold()
        let isCut = state.withLock { state in
            state.withCompany { company in
                company.chained.append(task.handle)
                if kind == .recall { company.recallsToCome -= 1 }
                return company.isCut
            }
        }
        if isCut { task.handle.cancelChain(isolation: nil) }
    }

    /// Takes note of how many recalls come after this run, unless it is cancelled.
    func expectRecalls(_ count: Int) {
        state.withLock { $0.withCompany { $0.recallsToCome = count } }
    }

    /// Whether a recall of this run is still to be made.
    var awaitsRecall: Bool {
        state.withLock { state in
            guard let company = state.company, !company.isCut else { return false }
            if case .cancelled = state.outcome { return false }
            return company.recallsToCome > 0
        }
    }

    /// Takes the task of a call that comes before this run. One that comes after the cancel is cancelled.
    func chain(predecessor task: any ChainedTask) {
        task.hold()
        let isAbandoned = state.withLock { state in
            state.withCompany { company in
                company.predecessors.append(task.handle)
                return company.isAbandoned
            }
        }
        if isAbandoned { task.handle.cancelChain(isolation: nil) }
    }

    /// Once the end of this run is decided, keeps the rest of the chain from starting. Returns what has been chained,
    /// which is to be cancelled.
    func cutChain() -> [CallHandle] {
        state.withLock { state in
            state.withCompany { company in
                company.isCut = true
                return company.chained
            }
        }
    }

    /// Gives up the calls that come before this run. Returns the one that it has made and waits for, if it does, which
    /// is to be cancelled. What has run before has nothing to do with this run any more, nor has what is chained to it.
    func abandonPredecessors() -> [CallHandle] {
        state.withLock { state in
            state.withCompany { company in
                company.isAbandoned = true
                return company.predecessors.filter { !$0.life.isFinished }
            }
        }
    }
}

/// A call that another call has started.
protocol ChainedTask: Sendable {
    var handle: CallHandle { get }

    /// Keeps the call's integrator until the call's last handler has run.
    func hold()
}
