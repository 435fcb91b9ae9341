/// Where a transfer stands, now and whenever that changes. See ``TransferCenter/states(of:)``.
public struct TransferStates: AsyncSequence, Sendable {
    /// One state.
    public typealias Element = TransferState
    /// Nothing can fail.
    public typealias Failure = Never

    private let latest: LatestValue<TransferState>?
    private let isEndless: Bool

    init(_ latest: LatestValue<TransferState>?, isEndless: Bool) {
        self.latest = latest
        self.isEndless = isEndless
    }

    /// Begins to follow, with the state that it has now.
    public func makeAsyncIterator() -> Iterator {
        Iterator(latest: latest, isEndless: isEndless)
    }

    /// Follows a transfer.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let latest: LatestValue<TransferState>?
        fileprivate let isEndless: Bool
        fileprivate var version = 0
        fileprivate var isOver = false

        /// The next state. Nil after the one that was the end, and when the task that waits is cancelled.
        public mutating func next() async -> TransferState? {
            await next(isolation: #isolation)
        }

        /// The next state. Nil after the one that was the end, and when the task that waits is cancelled.
        public mutating func next(isolation: isolated (any Actor)?) async -> TransferState? {
            guard !isOver, let (state, version) = await latest?.next(after: version, isolation: isolation) else {
                return nil
            }
            self.version = version
            isOver = state.isOver && !isEndless
            return state
        }
    }
}
