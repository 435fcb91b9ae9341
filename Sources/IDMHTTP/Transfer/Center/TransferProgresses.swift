/// How far several transfers have come together, now and whenever that changes. See ``TransferCenter/progresses(of:)``.
public struct TransferProgresses: AsyncSequence, Sendable {
    /// One progress.
    public typealias Element = TransferProgress
    /// Nothing can fail.
    public typealias Failure = Never

    let changes: LatestValue<Void>
    let look: @Sendable () -> (progress: TransferProgress, isOver: Bool)

    /// Begins to follow, with the progress that there is now.
    public func makeAsyncIterator() -> Iterator {
        Iterator(changes: changes, look: look)
    }

    /// Follows a group.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let changes: LatestValue<Void>
        fileprivate let look: @Sendable () -> (progress: TransferProgress, isOver: Bool)
        fileprivate var version = 0
        fileprivate var last: TransferProgress?
        fileprivate var isOver = false

        /// The next progress. Nil after the last, and when the task that waits is cancelled.
        public mutating func next() async -> TransferProgress? {
            await next(isolation: #isolation)
        }

        /// The next progress. Nil after the last, and when the task that waits is cancelled.
        public mutating func next(isolation: isolated (any Actor)?) async -> TransferProgress? {
            while !isOver {
                guard let (_, version) = await changes.next(after: version, isolation: isolation) else { return nil }
                self.version = version
                let (progress, isOver) = look()
                self.isOver = isOver
                let next = TransferProgress(
                    completed: Swift.max(progress.completed, last?.completed ?? 0),
                    counted: progress.counted, total: progress.total,
                    bytesPerSecond: progress.bytesPerSecond,
                    least: [progress.fraction, last?.fraction].compactMap { $0 }.max())
                if next == last, !isOver { continue }
                last = next
                return next
            }
            return nil
        }
    }
}
