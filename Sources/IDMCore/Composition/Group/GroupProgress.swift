/// Takes the mean of what the members of a group report, and passes it on. Made only when somebody listens.
@usableFromInline
package final class GroupProgress: Sendable {
    private let reporter: IntegrationProgress.Reporter
    private let means: Locked<GroupMeans>

    /// What a group of the current task reports to, or nil if nobody listens. Members are counted one by one,
    /// unless their number is given.
    @usableFromInline
    package static func current(count: Int = 0) -> GroupProgress? {
        IntegrationProgress.current.map { GroupProgress($0, count: count) }
    }

    init(_ reporter: IntegrationProgress.Reporter, count: Int) {
        self.reporter = reporter
        means = Locked(GroupMeans(count: count))
    }

    /// Counts one more member. All are to be counted before the first of them runs.
    @usableFromInline
    func count(_ member: some DataProvider) {
        means.withLock { $0.add() }
    }

    /// The reporter of the first member that has none yet.
    @usableFromInline
    func nextReporter() -> IntegrationProgress.Reporter {
        memberReporter(means.withLock { $0.next() })
    }

    /// The reporter of a member that was counted from the start.
    package func memberReporter(_ index: Int) -> IntegrationProgress.Reporter {
        IntegrationProgress.Reporter(Member(group: self, index: index))
    }

    /// Counts members as done that were counted from the start, and tells of all of them at once.
    package func finish(_ indices: [Int]) {
        let mean = means.withLock { means in indices.map { means.hear(1, from: $0) }.last }
        if let mean { reporter.report(fraction: mean) }
    }

    private func hear(_ progress: IntegrationProgress, from index: Int) {
        let mean = means.withLock { $0.hear(progress.fraction, from: index) }
        reporter.send(IntegrationProgress(fraction: mean, completed: progress.completed, total: progress.total))
    }

    private final class Member: ProgressListener {
        private let group: GroupProgress
        private let index: Int

        init(group: GroupProgress, index: Int) {
            self.group = group
            self.index = index
        }

        func hear(_ progress: IntegrationProgress) {
            group.hear(progress, from: index)
        }
    }
}

/// The mean of fractions, none of which goes backwards.
struct GroupMeans {
    private var fractions: [Double]
    /// Kept, and not made anew: there may be many members, and each may report often.
    private var sum = 0.0
    /// How many are done. Counted, because the sum of many fractions is not exact.
    private var doneCount = 0
    private var lastIndex = -1

    init(count: Int) {
        fractions = Array(repeating: 0, count: count)
    }

    mutating func add() {
        fractions.append(0)
    }

    /// The index of the member after the last that was asked for.
    mutating func next() -> Int {
        lastIndex += 1
        return lastIndex
    }

    /// Takes the fraction of one member, and returns the mean of all.
    mutating func hear(_ fraction: Double, from index: Int) -> Double {
        if fraction > fractions[index] {
            sum += fraction - fractions[index]
            fractions[index] = fraction
            if fraction >= 1 { doneCount += 1 }
        }
        return doneCount == fractions.count ? 1 : min(sum / Double(fractions.count), 1)
    }
}
