import IDMCore

extension IntegrationRecorder {
    /// What has been heard, and what became of it.
    struct State {
        let passesOverProgress: Bool
        var events: [IntegrationEvent<Output>] = []
        private(set) var expectedCount = 0
        /// Up to how many of all, besides what is passed over, failed expectations have named, whether they had come or
        /// not.
        private var namedCount = 0
        /// Calls made with the recorder, and those of them of which nothing comes any more.
        var made = 0
        var over = 0
        /// The runs of each of them that haven't had their last event: its own, and those that `thenRecall` has added.
        var calls: [Int: OpenRuns] = [:]
        /// Whether a run that `thenRecall` has added to them is still to be made.
        var recalls: [Int: @Sendable () -> Bool] = [:]
        /// The runs of all integrators that are heard, if any is.
        var integrators: OpenRuns?
        /// How many of them can still be called, or have a run that may tell something.
        var audible = 0
        /// How many events have been told as left over.
        var toldCount = 0

        /// Whether no event can come any more.
        var isOver: Bool { (made > 0 || integrators != nil) && made == over && audible == 0 }
        var unexpected: ArraySlice<IntegrationEvent<Output>> { events.dropFirst(expectedCount) }

        init(passesOverProgress: Bool) {
            self.passesOverProgress = passesOverProgress
        }

        mutating func takeNext() -> IntegrationEvent<Output>? {
            guard let event = unexpected.first else { return nil }
            expectedCount += 1
            return event
        }

        /// Takes the next events for an expectation that has failed, so many besides what is passed over, or as many as
        /// there are.
        mutating func takeRest(_ count: Int) -> [IntegrationEvent<Output>] {
            let taken = upcoming(count)
            namedCount = max(namedCount, self.count(before: expectedCount) + count)
            expectedCount += taken.count
            return taken
        }

        /// Whether an expectation has failed because none of the next events comes, so many besides what is passed
        /// over. Notes it if so: they may come all the same, if another call is made with the recorder later.
        mutating func missesRest(_ count: Int) -> Bool {
            guard isOver && unexpected.isEmpty else { return false }
            nameMissing(count)
            return true
        }

        /// Notes that an expectation has failed because so many aren't there. What is missing now, and was before,
        /// comes one after the other.
        mutating func nameMissing(_ count: Int) {
            namedCount = max(namedCount, self.count(before: expectedCount)) + count
        }

        /// The next events, so many besides what is passed over, or as many as there are.
        func upcoming(_ count: Int) -> [IntegrationEvent<Output>] {
            var rest = count
            return Array(
                unexpected.prefix { event in
                    defer { rest -= passes(over: event) ? 0 : 1 }
                    return rest > 0
                })
        }

        /// The events that nobody expected, without what is passed over and those that this has returned before. Nor
        /// those that a failed expectation would have taken if they had come sooner: one mistake is to be one failure.
        mutating func takeLeftovers() -> [IntegrationEvent<Output>] {
            let start = max(expectedCount, toldCount)
            toldCount = events.count
            let left = events.dropFirst(start).filter { !passes(over: $0) }
            return Array(left.dropFirst(max(0, namedCount - count(before: start))))
        }

        /// How many events are there before one of them, besides what is passed over.
        private func count(before index: Int) -> Int { events.prefix(index).count { !passes(over: $0) } }

        private func passes(over event: IntegrationEvent<Output>) -> Bool { passesOverProgress && event.isProgress }

        /// The calls that haven't ended. One that has a recall to come is one of them.
        func unended(recalled: Set<Int>) -> Set<Int> {
            recalled.union(calls.filter { $0.value.count > 0 }.keys)
        }
    }

    /// Runs that have been made, and haven't had their last event.
    struct OpenRuns {
        private(set) var count = 0
        /// Those of them that are about to hear of a cancel, and of nothing else.
        private var turnedAway = 0
        /// Those of them that have been told. Which ones isn't known: what ends is taken for another one.
        private var told = 0

        mutating func take(_ step: CallStep) {
            switch step {
            case .made: count += 1
            case .rejected: turnedAway += 1
            }
        }

        mutating func hear(_ event: IntegrationEvent<Output>) {
            switch event {
            case .completed:
                count -= 1
            case .cancelled where turnedAway > 0:
                turnedAway -= 1
                count -= 1
            default:
                break
            }
            told = min(told, count)
        }

        mutating func takeUntold() -> Int {
            defer { told = count }
            return count - told
        }
    }
}

/// The calls of a recorder by their numbers. It is looked at when what was heard has gone, so it holds none of that.
struct OpenCalls {
    /// Where each of them was made.
    private var places: [Int: SourcePlace] = [:]
    /// Those to which something is chained, until that has ended as well.
    private var chained: Set<Int> = []
    private var told: Set<Int> = []

    private var isGivenTime = false

    /// Whether nothing is left to be told at the end, which gives what is chained the time to end.
    mutating func areOver() -> Bool {
        isGivenTime = true
        return chained.isSubset(of: told)
    }

    mutating func begin(_ call: Int, at place: SourcePlace, isChained: Bool) {
        places[call] = place
        if isChained { chained.insert(call) }
    }

    mutating func end(_ call: Int) {
        places[call] = nil
        chained.remove(call)
    }

    /// The places of those of these calls that haven't been told, which they have then.
    mutating func tell(_ calls: Set<Int>) -> [SourcePlace] {
        defer { told.formUnion(calls) }
        return calls.subtracting(told).sorted().compactMap { places[$0] }
    }

    /// The same of those to which something is chained. None if nobody has given that time: it would be luck.
    mutating func tellChained() -> [SourcePlace] { isGivenTime ? tell(chained) : [] }
}
