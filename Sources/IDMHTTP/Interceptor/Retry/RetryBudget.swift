internal import IDMCore

/// A limit for the retries of many requests together, so that a failing server isn't asked many times as often as a
/// working one.
///
/// Each retry takes one from the budget, and each successful request returns a fraction of one. Share one budget among
/// the services of a host.
public final class RetryBudget: Sendable {
    private struct State {
        let capacity: Double
        let refill: Double
        var balance: Double

        /// The number of whole retries. Sums of tenths are only nearly whole.
        var retries: Int { Int(exactly: (balance + 1e-9).rounded(.down)) ?? .max }
    }

    private let state: Locked<State>

    /// Makes a full budget.
    ///
    /// - Parameters:
    ///   - capacity: The maximum number of retries. Zero or less is none.
    ///   - refill: The part of a retry that a success returns: with 0.1, one retry for ten successes.
    public init(capacity: Int = 20, refill: Double = 0.1) {
        let capacity = Double(max(capacity, 0))
        state = Locked(State(capacity: capacity, refill: refill > 0 ? min(refill, capacity) : 0, balance: capacity))
    }

    /// The number of retries that are left.
    public var balance: Int { state.withLock { $0.retries } }

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
