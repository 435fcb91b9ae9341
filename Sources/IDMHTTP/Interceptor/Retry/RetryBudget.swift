internal import IDMCore

/// How many retries many requests may make together, so that a server which is down isn't asked many times as often as
/// one which is up.
///
/// Each retry takes one from the budget, and each request that succeeds gives a part of one back. Share one budget
/// among the services of a host.
public final class RetryBudget: Sendable {
    private struct State {
        let capacity: Double
        let refill: Double
        var balance: Double

        /// How many retries that is. Sums of tenths come near to one, and not always to it.
        var retries: Int { Int(exactly: (balance + 1e-9).rounded(.down)) ?? .max }
    }

    private let state: Locked<State>

    /// Makes a budget, which is full.
    ///
    /// - Parameters:
    ///   - capacity: How many retries there are at most, when all is well. Zero or less is none.
    ///   - refill: What a success gives back: with 0.1, one retry for ten successes.
    public init(capacity: Int = 20, refill: Double = 0.1) {
        let capacity = Double(max(capacity, 0))
        state = Locked(State(capacity: capacity, refill: refill > 0 ? min(refill, capacity) : 0, balance: capacity))
    }

    /// How many retries are left.
    public var balance: Int { state.withLock { $0.retries } }

    /// Takes a retry. False if there is none.
    func take() -> Bool {
        state.withLock { state in
            guard state.retries > 0 else { return false }
            state.balance = max(state.balance - 1, 0)
            return true
        }
    }

    func succeed() {
        state.withLock { $0.balance = min($0.balance + $0.refill, $0.capacity) }
    }
}
