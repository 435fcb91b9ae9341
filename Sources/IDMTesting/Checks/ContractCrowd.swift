/// How requests ended that were made of one provider at once.
struct ContractCrowd: Sendable {
    private var fates: [ContractFate: Int] = [:]
    /// How many values the streams had that ended by themselves.
    private(set) var lengths: [Int] = []

    /// Looks at requests that have had their time.
    init<Provider>(_ trials: [ContractTrial<Provider>]) {
        for trial in trials {
            if let fate = trial.fate {
                fates[fate, default: 0] += 1
            } else if trial.hasEndedStream {
                lengths.append(trial.values)
            }
        }
    }

    /// Whether all have answered with a value, and no stream has ended.
    var isInnocent: Bool { fates.isEmpty && lengths.isEmpty }

    /// What no request is to come to, however many there are.
    var fault: String? {
        ContractFate.allCases.lazy.compactMap { fate in
            fate == .failed ? nil : fates[fate].map(fate.words)
        }.first
    }

    /// What has become of more of them than of others that were asked alike, and of which none was cancelled.
    func harm(beside others: ContractCrowd) -> String? {
        for fate in ContractFate.allCases {
            let (count, usual) = (fates[fate, default: 0], others.fates[fate, default: 0])
            if count > usual {
                return "\(fate.words(count: count))\(usual > 0 ? ", and \(usual) where none was cancelled" : "")"
            }
        }
        let count = cutCount(beside: others)
        return count > 0 ? "\(count) of them ended early" : nil
    }

    /// How many streams ended before their time.
    private func cutCount(beside others: ContractCrowd) -> Int {
        guard let shortest = others.lengths.min(), let longest = others.lengths.max() else {
            // Of those that failed nobody knows what their time would have been.
            return others.fates[.failed] == nil ? lengths.count : 0
        }
        // Where they differ anyhow, one that is short says nothing.
        if shortest < longest { return lengths.allSatisfy { $0 < shortest } ? lengths.count : 0 }
        return lengths.count { $0 < shortest }
    }
}

/// Which of many requests are cancelled. Any of them may be the one that does the work for the others.
struct CrowdCancel {
    /// Every so many of them one is spared.
    let interval: Int
    /// The first one that is spared.
    let spared: Int
    /// Whether they are left alone for a moment: some meet only when they have done something else.
    let isLater: Bool

    static let all = [
        CrowdCancel(interval: 2, spared: 1, isLater: false),
        // Where chance says who works for the others, it is among these mostly.
        CrowdCancel(interval: 10, spared: 0, isLater: true), CrowdCancel(interval: 10, spared: 9, isLater: true),
    ]

    func isMeant(_ number: Int) -> Bool { number % interval != spared }
}
