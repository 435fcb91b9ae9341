/// Cancellation of a call and its chain.
extension CallExecution {
    /// Cancels the call alone. Returns false if its end was decided before.
    @discardableResult
    func cancel(isolation: isolated (any Actor)?) -> Bool {
        scheduler.cancel(id, .cancelled, isolation: isolation)
    }

    /// Cancels the call and the call that it waits for; after its end, the calls that follow it.
    func cancelChain(isolation: isolated (any Actor)?) {
        cancelAll(cancelLink(isolation: isolation))
    }

    /// Cancels the call and the call that it waits for. After its end, does nothing: the calls that follow it continue.
    func cancelBeforeEnd(isolation: isolated (any Actor)?) {
        if cancel(isolation: isolation) { cancelAll(cutPredecessors()) }
    }

    private func cancelAll(_ calls: [CallExecution]) {
        var calls = calls
        // Not recursively: a chain may be longer than the stack.
        while let next = calls.popLast() { calls += next.cancelLink(isolation: nil) }
    }

    /// Cancels the call alone. Returns the calls to cancel with it, the last one first.
    private func cancelLink(isolation: isolated (any Actor)?) -> [CallExecution] {
        // The scheduler decides, not the stored outcome: another thread may have decided the end and not stored it yet.
        cancel(isolation: isolation) ? cutPredecessors() : cutFollowers().reversed()
    }

    /// Holds an object until the call has finished.
    func hold(_ object: any AnyObject & Sendable) {
        whenFinished { withExtendedLifetime(object) {} }
    }
}

// MARK: - Waiting

extension CallExecution {
    /// The outcome, once the end of the call is decided.
    var outcome: CallOutcome? { state.withLock { $0.outcome } }

    /// Waits for the outcome. Throws `CancellationError` if and only if the awaiting task is cancelled.
    ///
    /// - Parameter onCancel: Called if the awaiting task is cancelled during the wait, before this throws.
    @inline(__always)
    func waitForOutcome(onCancel: @Sendable () -> Void = {}) async throws -> CallOutcome {
        var outcome = outcome
        if outcome == nil {
            outcome = await LibraryTask.wait(cancelled: nil) { waiter in
                state.withLock { state in
                    if let outcome = state.outcome { return .some(outcome) }
                    return state.outcomeWaiters.add(waiter) ? nil : .some(nil)
                }
            } removing: { id in
                let waiter = state.withLock { $0.outcomeWaiters.remove(id) }
                onCancel()
                return waiter
            }
        }
        try Task.checkCancellation()
        guard let outcome else { throw CancellationError() }
        return outcome
    }

    /// Waits until the last handler of the call and of its chain has run, or the awaiting task is cancelled.
    func waitForFinish() async {
        if !state.withLock({ $0.isFinished }) {
            await LibraryTask.wait(cancelled: ()) { waiter in
                state.withLock { !$0.isFinished && $0.finishWaiters.add(waiter) ? nil : () }
            } removing: { id in
                state.withLock { $0.finishWaiters.remove(id) }
            }
        }
        for call in neighbors where !Task.isCancelled { await call.waitForFinish() }
    }

    /// Calls back when the last handler has run, on any thread; at once if it has.
    func whenFinished(_ callback: @escaping @Sendable () -> Void) {
        let isFinished = state.withLock { state in
            if !state.isFinished { state.finishCallbacks.append(callback) }
            return state.isFinished
        }
        if isFinished { callback() }
    }

    /// Calls back when the last handler of the call and of its chain has run.
    func whenChainFinished(_ callback: @escaping @Sendable () -> Void) {
        whenFinished { [self] in
            let neighbors = neighbors
            guard !neighbors.isEmpty else { return callback() }
            // A task and not nested callbacks: a chain may be longer than the stack.
            LibraryTask.startLater { _ in
                for call in neighbors { await call.waitForFinish() }
                callback()
            }
        }
    }
}

// MARK: - Chains

extension CallExecution {
    /// The calls before and after this one. All are known when it has finished.
    private var neighbors: [CallExecution] { state.withLock { $0.chain?.neighbors ?? [] } }

    /// The outcome, unless other calls come before or after this one.
    var unchainedOutcome: CallOutcome? {
        state.withLock { $0.chain?.neighbors.isEmpty ?? true ? $0.outcome : nil }
    }

    /// True once no further calls may follow this one.
    var isChainCut: Bool { state.withLock { $0.chain?.isCut ?? false } }

    /// Adds a call that follows this one, before it delivers its first event.
    func add(follower call: CallExecution) {
        if withChain({ $0.addFollower(call) }) { call.cancelChain(isolation: nil) }
    }

    /// Adds a call that this one waits for.
    func add(predecessor call: CallExecution) {
        if withChain({ $0.addPredecessor(call) }) { call.cancelChain(isolation: nil) }
    }

    /// Keeps followers from starting, and returns those that have started.
    fileprivate func cutFollowers() -> [CallExecution] {
        withChain { $0.cutFollowers() }
    }

    /// Makes later predecessors cancel too. Returns the predecessors that have not finished.
    fileprivate func cutPredecessors() -> [CallExecution] {
        withChain { $0.cutPredecessors() }.filter { !$0.hasFinished }
    }

    private func withChain<R: Sendable>(_ body: (CallChain) -> R) -> R {
        state.withLock { state in
            let chain = state.chain ?? CallChain()
            state.chain = chain
            return body(chain)
        }
    }
}
