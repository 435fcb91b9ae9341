import IDMCore

/// A value behind a lock, whose changes tasks can await.
package final class Observed<Value: Sendable>: Sendable {
    private struct Waiter {
        let id: Int
        let isSatisfied: @Sendable (Value) -> Bool
        let continuation: TrackedContinuation<Void, any Error>
    }

    private struct State {
        var value: Value
        /// Increases with each change of the value.
        var version = 0
        var waiters: [Waiter] = []
        var lastWaiter = 0
        /// Waiters whose limit was reached before they waited.
        var expired: Set<Int> = []
    }

    private let state: Locked<State>

    package init(_ value: Value) {
        state = Locked(State(value: value))
    }

    package var value: Value { state.withLock { $0.value } }

    /// Changes the value, then resumes the tasks whose condition holds.
    @discardableResult
    package func change<R: Sendable>(_ body: @Sendable (inout Value) -> R) -> R {
        let (result, value, waiters) = state.withLock { state in
            let result = body(&state.value)
            state.version += 1
            return (result, state.waiters.isEmpty ? nil : state.value, state.waiters)
        }
        if let value {
            // Outside of the lock: a condition is code of the test, and may read the value.
            for waiter in waiters where waiter.isSatisfied(value) { take(waiter.id)?.resume() }
        }
        return result
    }

    /// Waits until a condition holds.
    ///
    /// - Parameters:
    ///   - ignoringCancel: Whether a cancel of the task is ignored.
    ///   - limit: How long, in real time. Nil for no limit.
    ///   - isSatisfied: The condition.
    /// - Throws: `CancellationError`, if the task is cancelled; ``WaitLimitReached``.
    package func wait(
        ignoringCancel ignoresCancel: Bool = false, within limit: Duration? = nil,
        until isSatisfied: @escaping @Sendable (Value) -> Bool
    ) async throws {
        if !Task.isCancelled, isSatisfied(value) { return }
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        let timer = limit.map { limit in
            Task { [weak self] in
                // In parts: where the thread pool is busy, each part waits for its turn, as what is awaited does.
                for _ in 0..<50 {
                    guard (try? await Task.sleep(for: limit / 50)) != nil else { return }
                }
                self?.expire(id)
            }
        }
        defer {
            if let timer {
                timer.cancel()
                state.withLock { _ = $0.expired.remove(id) }
            }
        }
        try await LibraryTask.reactingToCancel {
            try await LibraryTask.waitThrowing { continuation in
                let waiter = Waiter(id: id, isSatisfied: isSatisfied, continuation: continuation)
                while true {
                    let (value, version) = state.withLock { ($0.value, $0.version) }
                    if ignoresCancel || !Task.isCancelled, isSatisfied(value) { return continuation.resume() }
                    let step = state.withLock { state in
                        // Under the lock: a later cancel finds the waiter, and so does a later timer.
                        if !ignoresCancel, Task.isCancelled { return Step.fails(CancellationError()) }
                        if state.expired.contains(id) { return .fails(WaitLimitReached()) }
                        guard state.version == version else { return .looksAgain }
                        state.waiters.append(waiter)
                        return .waits
                    }
                    switch step {
                    case .looksAgain: continue
                    case .waits: return
                    case .fails(let error): return continuation.resume(throwing: error)
                    }
                }
            }
        } onCancel: {
            if !ignoresCancel { take(id)?.resume(throwing: CancellationError()) }
        }
    }

    private enum Step {
        case looksAgain, waits
        case fails(any Error)
    }

    private func expire(_ id: Int) {
        let waiter = take(id) { $0.expired.insert(id) }
        waiter?.resume(throwing: WaitLimitReached())
    }

    /// Removes a waiter, for the caller to resume.
    private func take(
        _ id: Int, orElse change: (inout State) -> Void = { _ in }
    ) -> TrackedContinuation<Void, any Error>? {
        state.withLock { state in
            guard let index = state.waiters.firstIndex(where: { $0.id == id }) else {
                change(&state)
                return nil
            }
            return state.waiters.remove(at: index).continuation
        }
    }
}

/// A wait has reached its limit.
package struct WaitLimitReached: Error {}
