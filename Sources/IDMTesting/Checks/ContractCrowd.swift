import IDMCore

/// How requests ended that were made of one provider at once. Those that were cancelled aren't counted.
struct ContractCrowd: Sendable {
    /// Those that have neither answered nor ended, and the cancelled ones that haven't ended.
    var open = 0
    var cancelled = 0
    var unanswered = 0
    var repeated = 0
    var failed = 0
    /// How many values the streams had that ended by themselves.
    var lengths: [Int] = []

    /// Whether all have answered with a value, and no stream has ended.
    var isInnocent: Bool { self == ContractCrowd() }

    /// What no request is to come to, however many there are.
    var fault: String? {
        if open > 0 { return "to end, and \(open) of them did not." }
        if cancelled > 0 { return "to be answered, and \(cancelled) of them ended as cancelled." }
        if unanswered > 0 { return "to be answered, and \(unanswered) of them ended without an answer." }
        return repeated > 0 ? "to be answered once, and \(repeated) of them called back more often." : nil
    }

    /// What has become of more of them than of others that were asked alike, and of which none was cancelled.
    func harm(beside others: ContractCrowd) -> (count: Int, words: String)? {
        let changes = [
            (open, others.open, "did not end"),
            (cancelled, others.cancelled, "ended as cancelled"),
            (unanswered, others.unanswered, "ended without an answer"),
            (failed, others.failed, "failed"),
            (repeated, others.repeated, "called back more often than once"),
            (cutCount(beside: others), 0, "ended early"),
        ]
        return changes.first { $0.0 > $0.1 }.map { ($0.0, $0.2) }
    }

    /// How many streams ended before their time.
    private func cutCount(beside others: ContractCrowd) -> Int {
        guard let shortest = others.lengths.min(), let longest = others.lengths.max() else {
            // Of those that failed nobody knows what their time would have been.
            return others.failed == 0 ? lengths.count : 0
        }
        // Where they differ anyhow, one that is short says nothing.
        if shortest < longest { return lengths.allSatisfy { $0 < shortest } ? lengths.count : 0 }
        return lengths.count { $0 < shortest }
    }
}

extension ContractCrowd: Equatable {
    /// Looks at requests that have had their time.
    init<Provider>(cancelled: [ContractTrial<Provider>], others: [ContractTrial<Provider>]) {
        open = cancelled.count { !$0.hasEnded } + others.count { !$0.hasAnswered }
        for trial in others where trial.hasAnswered {
            if trial.callbacks > 1 { repeated += 1 }
            if trial.endedAsCancelled {
                self.cancelled += 1
            } else if trial.isUnanswered {
                unanswered += 1
            } else if trial.hasFailed {
                failed += 1
            } else if trial.hasEndedStream {
                lengths.append(trial.values)
            }
        }
    }
}
