/// Reports the mean of the progress of a group's members. Made only if a call receives progress.
@usableFromInline
package final class GroupProgress: Sendable {
    private let reporter: IntegrationProgress.Reporter
    private let mean: Locked<GroupMean>

    /// The progress of a group of `count` members of the current task, or nil if no call receives progress.
    @usableFromInline
    package static func current(count: Int) -> GroupProgress? {
        IntegrationProgress.current.map { GroupProgress($0, count: count) }
    }

    init(_ reporter: IntegrationProgress.Reporter, count: Int) {
        self.reporter = reporter
        mean = Locked(GroupMean(count: count))
    }

    /// The reporter of the member with an index.
    @usableFromInline
    package func memberReporter(_ index: Int) -> IntegrationProgress.Reporter {
        IntegrationProgress.Reporter(Member(group: self, index: index))
    }

    /// Counts several members as done, and reports once.
    package func finish(_ indices: [Int]) {
        let fraction = mean.withLock { mean in indices.map { mean.update(1, at: $0) }.last }
        if let fraction { reporter.report(fraction: fraction) }
    }

    private final class Member: ProgressListener {
        let group: GroupProgress
        let index: Int

        init(group: GroupProgress, index: Int) {
            self.group = group
            self.index = index
        }

        func hear(_ progress: IntegrationProgress) {
            let fraction = group.mean.withLock { $0.update(progress.fraction, at: index) }
            group.reporter.send(
                IntegrationProgress(fraction: fraction, completed: progress.completed, total: progress.total))
        }
    }
}

/// The mean of fractions that never decrease.
struct GroupMean {
    private var fractions: [Double]
    /// Updated, not recomputed: there may be many members that report often.
    private var sum = 0.0
    /// Counted, because a sum of many fractions is not exact.
    private var doneCount = 0

    init(count: Int) { fractions = Array(repeating: 0, count: count) }

    /// Sets the fraction of one member, and returns the mean of all.
    mutating func update(_ fraction: Double, at index: Int) -> Double {
        if fraction > fractions[index] {
            sum += fraction - fractions[index]
            fractions[index] = fraction
            if fraction >= 1 { doneCount += 1 }
        }
        return doneCount == fractions.count ? 1 : min(sum / Double(fractions.count), 1)
    }
}
