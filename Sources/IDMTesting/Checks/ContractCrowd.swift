/// How requests ended that were made of one provider at once.
struct ContractCrowd: Sendable {
    /// Those with one input: what becomes of them may depend on that.
    fileprivate struct Group: Sendable {
        var fates: [ContractFate: Int] = [:]
        /// How many values the streams had that ended by themselves.
        var lengths: [Int] = []
        let count: Int

        var allFail: Bool { fates[.failed] == count }
    }

    private var groups: [Group]
    /// Those that had ended before others were cancelled.
    private let early: [ContractFate: Int]
    /// How many have not ended though they were cancelled.
    let stuck: Int
    /// Whether some were cancelled.
    let isDisturbed: Bool

    /// Looks at requests that have had their time.
    ///
    /// - Parameters:
    ///   - trials: Those that nobody cancelled, by their inputs.
    ///   - strange: Those of them whose answer is wrong, by their numbers.
    ///   - early: Those that had ended before others were cancelled.
    ///   - cancelled: The others, if they were waited for.
    ///   - isDisturbed: Whether there are others.
    init<Provider>(
        _ trials: [[ContractTrial<Provider>]], strange: [(number: Int, fate: ContractFate)],
        early: [ContractTrial<Provider>], cancelled: [ContractTrial<Provider>], isDisturbed: Bool
    ) {
        self.isDisturbed = isDisturbed
        self.early = early.reduce(into: [:]) { fates, trial in
            if let fate = trial.fate { fates[fate, default: 0] += 1 }
        }
        groups = trials.map { trials in
            trials.reduce(into: Group(count: trials.count)) { group, trial in
                if let fate = trial.fate {
                    group.fates[fate, default: 0] += 1
                } else if trial.hasEndedStream {
                    group.lengths.append(trial.values)
                }
            }
        }
        stuck = cancelled.count { !$0.hasEnded }
        for (number, fate) in strange { groups[number % groups.count].fates[fate, default: 0] += 1 }
    }

    /// Whether all have answered with the right value, and no stream has ended, but for those that had ended before.
    var isInnocent: Bool { fault == nil && groups.allSatisfy { $0.fates.isEmpty && $0.lengths.isEmpty } }

    /// Whether there are some that have failed or ended: which, and when, may be chance.
    var mayDiffer: Bool { groups.contains { $0.fates[.failed] != nil || !$0.lengths.isEmpty } }

    /// How many streams have ended by themselves, by their inputs.
    var ends: [Int] { groups.map(\.lengths.count) }

    /// How many values the streams had that have ended by themselves, by their inputs.
    var lengths: [Set<Int>] { groups.map { Set($0.lengths) } }

    /// What no request is to come to, however many there are. Wrong answers are looked for elsewhere.
    var fault: String? { fault(from: .open) }

    /// The same, but for what is a matter of time: on a busy machine one may come too late.
    var timelessFault: String? { fault(from: .cancelled) }

    private func fault(from first: ContractFate) -> String? {
        for fate in ContractFate.allCases where fate >= first && fate < .failed {
            let count = groups.reduce(early[fate, default: 0]) { $0 + $1.fates[fate, default: 0] }
            if count > 0 { return fate.words(count: count) }
        }
        return nil
    }

    /// What has become of more of them than of others that were asked alike, and of which none was cancelled. If those
    /// have strange answers as well, answers differ anyhow.
    ///
    /// - Parameters:
    ///   - failing: The inputs that fail alone. Those of which all others fail as well show nothing of that.
    ///   - varying: The inputs with which streams differ in length anyhow.
    func harm(beside others: ContractCrowd, failingAlone failing: [Int], varying: Set<Int>) -> String? {
        let pairs = Array(zip(groups, others.groups))
        let differ = others.groups.contains { $0.fates.keys.contains(where: \.isOfAnswer) }
        for fate in ContractFate.allCases where !(fate.isOfAnswer && differ) {
            // All inputs together: where some fail anyhow, chance says which.
            let silent = fate == .failed ? failing.filter { others.groups[$0].allFail } : []
            let showing = pairs.indices.filter { !silent.contains($0) }.map { pairs[$0] }
            let count = showing.reduce(0) { $0 + $1.0.fates[fate, default: 0] }
            let usual = showing.reduce(0) { $0 + $1.1.fates[fate, default: 0] }
            guard count > usual else { continue }
            return "\(fate.words(count: count))\(usual > 0 ? ", and \(usual) where none was cancelled" : "")"
        }
        let count = pairs.enumerated().reduce(0) { count, pair in
            count + pair.element.0.cutCount(beside: pair.element.1, varying: varying.contains(pair.offset))
        }
        return count > 0 ? "\(count) of them ended early" : nil
    }
}

extension ContractCrowd.Group {
    /// How many streams ended before their time.
    func cutCount(beside others: Self, varying isVarying: Bool) -> Int {
        guard let shortest = others.lengths.min() else {
            // Of those that failed nobody knows what their time would have been.
            return others.fates[.failed] == nil ? lengths.count : 0
        }
        // Where they differ anyhow, one that is short says nothing.
        if isVarying { return lengths.allSatisfy { $0 < shortest } ? lengths.count : 0 }
        return lengths.count { $0 < shortest }
    }
}
