import Synchronization

/// Requests shared by key, written by hand with the guarantees of `coalesced(by:)`: a cancelled waiter ends at once, and
/// the last waiter that leaves cancels the request.
final class SharedByHand<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Value, any Error>

    private struct Running {
        let number: Int
        var task: Task<Void, Never>?
        var waiters: [Int: Waiter] = [:]
        var members = 0
    }

    private struct State {
        var running: [Key: Running] = [:]
        var lastNumber = 0
    }

    private let state = Mutex(State())
    private let load: @Sendable (Key) async throws -> Value

    init(_ load: @escaping @Sendable (Key) async throws -> Value) {
        self.load = load
    }

    func value(for key: Key) async throws -> Value {
        try Task.checkCancellation()
        let (id, isFirst) = join(key)
        if isFirst {
            let task = Task { await run(key, id.run) }
            state.withLock { state in
                if state.running[key]?.number == id.run { state.running[key]?.task = task }
            }
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait($0, key, id) }
        } onCancel: {
            leave(key, id)
        }
    }

    private typealias ID = (run: Int, member: Int)

    private func join(_ key: Key) -> (ID, isFirst: Bool) {
        state.withLock { state in
            state.lastNumber += 1
            let isFirst = state.running[key] == nil
            let run = isFirst ? state.lastNumber : state.running[key]!.number
            state.running[key, default: Running(number: run)].members += 1
            return ((run, state.lastNumber), isFirst)
        }
    }

    private func wait(_ waiter: Waiter, _ key: Key, _ id: ID) {
        let isGone = state.withLock { state in
            guard state.running[key]?.number == id.run, !Task.isCancelled else { return true }
            state.running[key]?.waiters[id.member] = waiter
            return false
        }
        if isGone { waiter.resume(throwing: CancellationError()) }
    }

    private func leave(_ key: Key, _ id: ID) {
        let (waiter, task) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
            guard state.running[key]?.number == id.run else { return (nil, nil) }
            let waiter = state.running[key]?.waiters.removeValue(forKey: id.member)
            state.running[key]?.members -= 1
            guard state.running[key]?.members == 0 else { return (waiter, nil) }
            return (waiter, state.running.removeValue(forKey: key)?.task)
        }
        waiter?.resume(throwing: CancellationError())
        task?.cancel()
    }

    private func run(_ key: Key, _ number: Int) async {
        let result: Result<Value, any Error>
        do {
            result = .success(try await load(key))
        } catch {
            result = .failure(error)
        }
        let waiters = state.withLock { state in
            state.running[key]?.number == number ? state.running.removeValue(forKey: key)?.waiters : nil
        }
        for waiter in (waiters ?? [:]).values { waiter.resume(with: result) }
    }
}
