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
    func harm(beside others: ContractCrowd) -> String? {
        if cancelled > others.cancelled { return "\(cancelled) of them ended as cancelled." }
        if unanswered > others.unanswered { return "\(unanswered) of them ended without an answer." }
        if failed > others.failed { return "\(failed) of them failed." }
        let cut = cutCount(beside: others)
        return cut > 0 ? "\(cut) of them ended early." : nil
    }

    /// How many streams ended before their time.
    private func cutCount(beside others: ContractCrowd) -> Int {
        guard let shortest = others.lengths.min(), let longest = others.lengths.max() else { return lengths.count }
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
            if trial.endedAsCancelled {
                self.cancelled += 1
            } else if trial.isUnanswered {
                unanswered += 1
            } else if trial.callbacks > 1 {
                repeated += 1
            } else if trial.hasFailed {
                failed += 1
            } else if trial.hasEndedStream {
                lengths.append(trial.values)
            }
        }
    }
}
