import Synchronization

/// What the outside can see of a run, and who is to be woken when that changes. Outlives the run, so that a task which
/// is kept does not keep the handlers.
final class Life: Sendable {
    typealias Outcome = IntegrationOutcome<any Sendable>

    private struct State {
        var outcome: Outcome?
        var isFinished = false
        var isStopped = false
        var work: Task<Void, Never>?
        var parking = Parking.free
        /// The calls that this one has started.
        var chained: [any ChainedTask] = []
        var isCut = false
        var waiting = Waiters<Outcome?>()
        var finishing = Waiters<Void>()
        var whenFinished: [@Sendable () -> Void] = []
    }

    /// Where the run's own task waits for its turn. A wake that comes before the wait is kept.
    private enum Parking {
        case free
        case woken
        case parked(UnsafeContinuation<Void, Never>)
    }

    private let state = Mutex(State())

    // MARK: The work

    /// Takes the task that does the work, and cancels it if the run was stopped before. Returns the outcome, if there is
    /// one already.
    func attach(_ work: Task<Void, Never>) -> Outcome? {
        let (outcome, isStopped) = state.withLock { state in
            if !state.isFinished { state.work = work }
            return (state.outcome, state.isStopped)
        }
        if isStopped { work.cancel() }
        return outcome
    }

    /// Whether the work has been stopped.
    var isStopped: Bool {
        state.withLock { $0.isStopped }
    }

    /// Cancels the task that does the work.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            return state.work
        }?.cancel()
    }

    /// Waits to be woken.
    func park() async {
        await withUnsafeContinuation { continuation in
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
    }

    /// Wakes the task that has parked, or is about to.
    func wake() {
        let parked: UnsafeContinuation<Void, Never>? = state.withLock { state in
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

    /// The outcome, as soon as the end is decided.
    var outcome: Outcome? {
        state.withLock { $0.outcome }
    }

    /// Takes the outcome.
    func settle(_ outcome: Outcome) {
        let waiting = state.withLock { state in
            state.outcome = outcome
            return state.waiting.removeAll()
        }
        for continuation in waiting { continuation.resume(returning: outcome) }
    }

    /// Takes the outcome of a run that has no handlers left to call.
    func end(_ outcome: Outcome) {
        settle(outcome)
        finish()
    }

    /// Takes note that the last handler has run.
    func finish() {
        let (finishing, callbacks) = state.withLock { state in
            state.isFinished = true
            state.work = nil
            defer { state.whenFinished = [] }
            return (state.finishing.removeAll(), state.whenFinished)
        }
        for continuation in finishing { continuation.resume() }
        for callback in callbacks { callback() }
    }

    /// Calls back when the last handler has run: from wherever that is, or at once if it has.
    func whenFinished(_ callback: @escaping @Sendable () -> Void) {
        let isFinished = state.withLock { state in
            if !state.isFinished { state.whenFinished.append(callback) }
            return state.isFinished
        }
        if isFinished { callback() }
    }

    /// Waits for the outcome. Nil if the awaiting task is cancelled first, and is to give up then.
    func waitForOutcome(untilCancelled: Bool) async -> Outcome? {
        if let outcome { return outcome }
        guard untilCancelled else { return await addWaiter(newWaiter(), untilCancelled: false) }
        let id = newWaiter()
        return await withTaskCancellationHandler {
            await addWaiter(id, untilCancelled: true)
        } onCancel: {
            state.withLock { $0.waiting.remove(id) }?.resume(returning: nil)
        }
    }

    private func newWaiter() -> Int {
        state.withLock { $0.waiting.newID() }
    }

    private func addWaiter(_ id: Int, untilCancelled: Bool) async -> Outcome? {
        await withUnsafeContinuation { continuation in
            let answer: Outcome?? = state.withLock { state in
                if let outcome = state.outcome { return .some(outcome) }
                // Asked under the lock: a cancel that comes later finds the waiter, one that came before is seen here.
                if untilCancelled && Task.isCancelled { return .some(nil) }
                state.waiting.add(continuation, id)
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// Waits until the last handler has run, and everything chained to it.
    func waitForFinish() async {
        await withUnsafeContinuation { continuation in
            let isFinished = state.withLock { state in
                if !state.isFinished { state.finishing.add(continuation, state.finishing.newID()) }
                return state.isFinished
            }
            if isFinished { continuation.resume() }
        }
        for task in state.withLock({ $0.chained }) { await task.finish() }
    }

    // MARK: The chain

    /// Whether calls may be chained.
    var isCut: Bool {
        state.withLock { $0.isCut }
    }

    /// Takes a task that was chained to this run. One that comes after the cut is cancelled.
    func chain(_ task: any ChainedTask) {
        let isCut = state.withLock { state in
            state.chained.append(task)
            return state.isCut
        }
        if isCut { task.cancel() }
    }

    /// Cancels what has been chained. After the end of this run, it also keeps the rest of the chain from starting.
    func cutChain() {
        let chained = state.withLock { state in
            if state.outcome != nil { state.isCut = true }
            return state.chained
        }
        for task in chained { task.cancel() }
    }
}

/// A call that another call has started.
protocol ChainedTask: Sendable {
    func cancel()
    func finish() async
}
