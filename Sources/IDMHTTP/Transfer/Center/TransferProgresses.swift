internal import IDMCore

/// How far several transfers have come together, now and whenever that changes. See ``TransferCenter/progresses(of:)``.
public struct TransferProgresses: AsyncSequence, Sendable {
    /// One progress.
    public typealias Element = TransferProgress
    /// Nothing can fail.
    public typealias Failure = Never

    let clock: any Clock<Duration>
    /// What changes with the group, for one who follows it.
    let changes: @Sendable () -> LatestValue<Void>
    /// Whether all of the group are over: asked more often than how far they have come.
    let isOver: @Sendable () -> Bool
    let look: @Sendable () -> TransferGroup

    /// How much time is at least between two of them, but for the last.
    static let interval = Duration.milliseconds(100)

    /// Begins to follow, with the progress that there is now.
    public func makeAsyncIterator() -> Iterator {
        Iterator(group: self, changes: changes(), elapsed: clock.stopwatch())
    }

    /// Follows a group.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let group: TransferProgresses
        private let changes: LatestValue<Void>
        fileprivate let elapsed: @Sendable () -> Duration
        private var version = 0
        private var last: TransferGroup?
        /// When the last one was told.
        private var time: Duration?

        fileprivate init(
            group: TransferProgresses, changes: LatestValue<Void>, elapsed: @escaping @Sendable () -> Duration
        ) {
            self.group = group
            self.changes = changes
            self.elapsed = elapsed
        }

        /// The next progress. Nil after the last, and when the task that waits is cancelled.
        public mutating func next() async -> TransferProgress? {
            await next(isolation: #isolation)
        }

        /// The next progress. Nil after the last, and when the task that waits is cancelled.
        public mutating func next(isolation: isolated (any Actor)?) async -> TransferProgress? {
            while last?.isOver != true {
                guard let (_, version) = await changes.next(after: version),
                    await mayTell()
                else { return nil }
                self.version = version
                let next = group.look().after(last)
                let isNew = next.progress != last?.progress || next.isOver
                last = next
                guard isNew else { continue }
                time = elapsed()
                return next.progress
            }
            return nil
        }

        /// Waits until it isn't too soon after the last one, or all are over. Returns whether nobody has cancelled
        /// that.
        private func mayTell() async -> Bool {
            guard let time, case let rest = TransferProgresses.interval - (elapsed() - time), rest > .zero else {
                return true
            }
            do {
                try await Timeout(group.clock).run(rest) { [group, changes, version] _ in
                    var version = version
                    while !group.isOver(), let (_, next) = await changes.next(after: version) { version = next }
                }
            } catch is Timeout.Expired {
                return true
            } catch {
                return false
            }
            return true
        }
    }
}

/// How far several transfers have come together, at one moment.
struct TransferGroup: Sendable {
    var progress: TransferProgress
    /// Which of them count: another number where others do.
    var members: UInt64
    /// Whether all of them are over.
    var isOver: Bool

    /// The same, not less than it was before as long as the same of them count.
    func after(_ last: TransferGroup?) -> TransferGroup {
        guard let last, last.members == members else { return self }
        var group = self
        group.progress = TransferProgress(
            completed: max(progress.completed, last.progress.completed), counted: progress.counted,
            total: progress.total, bytesPerSecond: progress.bytesPerSecond,
            least: [progress.fraction, last.progress.fraction].compactMap { $0 }.max())
        return group
    }
}
