internal import IDMCore

/// Where a transfer stands, now and whenever that changes. See ``TransferCenter/states(of:)``.
public struct TransferStates: AsyncSequence, Sendable {
    /// One state.
    public typealias Element = TransferState
    /// Nothing can fail.
    public typealias Failure = Never

    private let latest: (value: LatestValue<TransferState>, past: Int)?
    private let isEndless: Bool

    init(following latest: (LatestValue<TransferState>, past: Int)?, isEndless: Bool) {
        self.latest = latest
        self.isEndless = isEndless
    }

    /// Begins to follow, with the state that it has now.
    public func makeAsyncIterator() -> Iterator {
        Iterator(latest: latest?.value, isEndless: isEndless, version: latest?.past ?? 0)
    }

    /// Follows a transfer.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let latest: LatestValue<TransferState>?
        fileprivate let isEndless: Bool
        fileprivate var version: Int
        fileprivate var isOver = false

        /// The next state. Nil after the one that was the end, and when the task that waits is cancelled.
        public mutating func next() async -> TransferState? {
            await next(isolation: #isolation)
        }

        /// The next state. Nil after the one that was the end, and when the task that waits is cancelled.
        public mutating func next(isolation: isolated (any Actor)?) async -> TransferState? {
            guard !isOver, let (state, version) = await latest?.next(after: version) else {
                return nil
            }
            self.version = version
            isOver = state.isOver && !isEndless
            return state
        }
    }
}

/// The transfers that have an id, one after the other.
struct TransferLives: Sendable {
    private let core: TransferCore
    private let id: String

    init(_ core: TransferCore, _ id: String) {
        self.core = core
        self.id = id
    }

    /// Where the one stands that has it now.
    var state: TransferState? { core.state(of: id) }

    /// Waits for a transfer, to be followed until it is forgotten. Nil once the center is closed.
    func next() async -> TransferStates? {
        await core.nextLatest(of: id).map { TransferStates(following: $0, isEndless: true) }
    }
}
