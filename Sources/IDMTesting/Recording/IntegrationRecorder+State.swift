import IDMCore

extension IntegrationRecorder {
    struct State {
        private(set) var events: [IntegrationEvent<Output>] = []
        private(set) var calls: [Int: RecordedCall] = [:]
        private var lastCall = 0
        /// The number of events expectations have consumed.
        private var expectedCount = 0
        /// The number of events, progress apart, failed expectations have named, whether these events came or not.
        private var excusedCount = 0
        /// The number of events that have been reported as unexpected.
        private var reportedCount = 0
        /// Calls of integrators that are recorded as a whole, and how many integrators and runs may still report.
        var openRuns = OpenRuns()
        var sources = 0
        var hasSources = false
        /// True if everything that is about to end has been given time.
        private var isGivenTime = false

        var unexpected: ArraySlice<IntegrationEvent<Output>> { events.dropFirst(expectedCount) }

        /// True if no event can come any more.
        var isOver: Bool { (!calls.isEmpty || hasSources) && sources == 0 && calls.values.allSatisfy(\.isOver) }

        // MARK: Recording

        mutating func addCall(at place: SourcePlace) -> Int {
            lastCall += 1
            calls[lastCall] = RecordedCall(place: place)
            return lastCall
        }

        mutating func add(_ event: IntegrationEvent<Output>, ofCall call: Int? = nil) {
            events.append(event)
            if let call { calls[call]?.take(event) } else { openRuns.take(event) }
        }

        mutating func endCall(_ call: Int) { calls[call]?.isOver = true }

        // MARK: Expecting

        mutating func takeNext() -> IntegrationEvent<Output>? {
            guard let event = unexpected.first else { return nil }
            expectedCount += 1
            return event
        }

        /// Consumes the events that a failed expectation names, as far as they have come.
        mutating func takeRest(_ count: Int) -> [IntegrationEvent<Output>] {
            let taken = upcoming(count)
            excusedCount = max(excusedCount, countEvents(before: expectedCount) + count)
            expectedCount += taken.count
            return taken
        }

        /// Notes the events that a failed expectation misses: if they come later, they are no second failure.
        mutating func excuseMissing(_ count: Int) {
            excusedCount = max(excusedCount, countEvents(before: expectedCount)) + count
        }

        /// The next events, up to a number that doesn't count progress.
        func upcoming(_ count: Int) -> [IntegrationEvent<Output>] {
            var rest = count
            return Array(
                unexpected.prefix { event in
                    defer { rest -= event.isProgress ? 0 : 1 }
                    return rest > 0
                })
        }

        private func countEvents(before index: Int) -> Int { events.prefix(index).count { !$0.isProgress } }

        // MARK: Leftovers

        /// True if everything has ended that is looked at when the scope ends.
        mutating func isSettled() -> Bool {
            isGivenTime = true
            return calls.values.allSatisfy(\.isOver) && openRuns.count == 0
        }

        /// The unexpected events, each returned once.
        mutating func takeUnexpected() -> [IntegrationEvent<Output>] {
            let start = max(expectedCount, reportedCount)
            reportedCount = events.count
            let left = events.dropFirst(start).filter { !$0.isProgress }
            return Array(left.dropFirst(max(0, excusedCount - countEvents(before: start))))
        }

        /// Failures for the calls that haven't ended, each once.
        ///
        /// - Parameter isAtEnd: Whether the calls that are chained to a call count as well.
        mutating func takeUnended(isAtEnd: Bool) -> [TestFailure] {
            calls.keys.sorted().compactMap { number in
                guard let call = calls[number], !call.isOver, !call.isReported else { return nil }
                guard call.isRunning || (isAtEnd && isGivenTime) else { return nil }
                calls[number]?.isReported = true
                let subject = call.isRunning ? "the call" : "all that is chained to the call"
                return TestFailure("Expected \(subject) to have ended, and it had not.", at: call.place)
            }
        }
    }

    /// A call that was made with the recorder.
    struct RecordedCall {
        let place: SourcePlace
        /// True if a run of the call hasn't reported its last event.
        private(set) var isRunning = true
        private var hasBegun = false
        /// True if the call and everything chained to it has ended.
        var isOver = false
        var isReported = false

        init(place: SourcePlace) {
            self.place = place
        }

        mutating func take(_ event: IntegrationEvent<Output>) {
            switch event {
            case .began: (hasBegun, isRunning) = (true, true)
            case .completed: (hasBegun, isRunning) = (false, false)
            case .cancelled where !hasBegun: isRunning = false
            default: break
            }
        }
    }

    /// Runs of recorded integrators that haven't reported their last event.
    struct OpenRuns {
        private(set) var count = 0
        /// Runs that will report a cancel and nothing else.
        private var turnedAway = 0
        private var reported = 0

        mutating func take(_ step: CallStep) {
            switch step {
            case .made: count += 1
            case .rejected: turnedAway += 1
            }
        }

        mutating func take(_ event: IntegrationEvent<Output>) {
            switch event {
            case .completed:
                count -= 1
            case .cancelled where turnedAway > 0:
                turnedAway -= 1
                count -= 1
            default:
                break
            }
            reported = min(reported, count)
        }

        mutating func takeUnreported() -> Int {
            defer { reported = count }
            return count - reported
        }
    }
}
