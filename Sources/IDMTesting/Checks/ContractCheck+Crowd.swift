extension ContractCheck {
    typealias Trial = ContractTrial<Provider>

    /// Asks many times at once, and cancels some: nobody else is to notice. What happens anyhow is no fault of a
    /// cancel, and what happens to a request alone is no fault of many, but of each.
    func takesMany() async throws -> Breach? {
        // Once for all looks: where a request takes seconds, these would take most of the time.
        var check = self
        check.alone = try await answersAlone()
        return try await check.takesMany(20)
    }

    private func takesMany(_ count: Int) async throws -> Breach? {
        func breach(_ message: String) -> Breach { Breach(rule: .takesConcurrentRequests, message: message) }
        var (hasAskedOne, late, chance) = (false, Breach?.none, Chance())
        for choice in CrowdCancel.ways(inputCount: inputCount) {
            let meddled = try await askMany(count, for: choice, awaitingCancelled: late == nil)
            if !meddled.isInnocent {
                if !hasAskedOne, let words = try await answersOnce() {
                    return Breach(rule: .answersOnce, message: words)
                }
                hasAskedOne = true
                if let words = try await harm(of: choice, among: count, meddled, &chance) {
                    return breach(words)
                }
            }
            guard meddled.stuck > 0, late == nil else { continue }
            guard try await isLate() else {
                return breach(
                    "expected all that were cancelled of \(count) requests to end, and \(meddled.stuck) did not.")
            }
            late = Breach(rule: .hearsCancel, message: lateness)
        }
        if let words = try await mixUp(among: count) { return breach(words) }
        if let words = try await aftermath(of: 1) { return breach(words) }
        if let words = try await aftermath(of: count) { return breach(words) }
        return chance.fault.map { breach(words(for: $0, among: count)) } ?? late
    }

    /// What has come by chance.
    private struct Chance {
        /// The inputs with which streams have differed in length that nobody cancelled.
        var varying: Set<Int> = []
        /// What no request is to come to, and some did beside a cancel, not each time.
        var fault: String?
    }

    /// Looks three times: what comes now and then by itself may have come by chance, and to all at once where requests
    /// share one. Six times where some fail, or streams end: which of many those are, and when, may be chance as well.
    private func harm(
        of choice: CrowdCancel, among count: Int, _ meddled: ContractCrowd, _ chance: inout Chance
    ) async throws -> String? {
        var (meddled, harm) = (meddled, String?.none)
        for look in 0..<(meddled.fails || meddled.ends.contains { $0 > 0 } ? 6 : 3) {
            if look > 0 {
                // A server that all share may count, and is to be met elsewhere in its count each time.
                _ = try await askMany(7 * look)
                meddled = try await askMany(count, for: choice)
            }
            chance.fault = chance.fault ?? meddled.timelessFault
            let alike = try await askMany(count, for: choice, cancelling: false, until: meddled.ends)
            if let fault = alike.fault { return words(for: fault, among: count) }
            chance.varying.formUnion(alike.varying)
            harm = meddled.harm(
                beside: alike, failingAlone: alone.indices.filter { alone[$0] == nil }, varying: chance.varying)
            if harm == nil { return nil }
        }
        return harm.map { "expected the cancel of some of \(count) requests to leave the others alone, and \($0)." }
    }

    func words(for fault: String, among count: Int) -> String {
        "expected \(count) requests at once to be answered once each, and \(fault)."
    }

    /// Asks many times at once.
    ///
    /// - Parameters:
    ///   - choice: Which are cancelled, and so in what order all are made. Nil for none, in any order.
    ///   - isMeddling: Whether these are cancelled, or made just as if they were to be.
    ///   - awaitsCancelled: Whether the cancelled are given the time of a request to end.
    ///   - ends: How many streams are worth waiting for a long time, by their inputs.
    private func askMany(
        _ count: Int, for choice: CrowdCancel? = nil, cancelling isMeddling: Bool = true,
        awaitingCancelled awaitsCancelled: Bool = false, until ends: [Int] = []
    ) async throws -> ContractCrowd {
        let trials = await ask(count, try make(), keepingTurns: choice?.keepsTurns ?? false)
        defer { for trial in trials { trial.cancel() } }
        // Where all have ended by now, nothing is waited for that would notice it.
        try Task.checkCancellation()
        let cancel = isMeddling ? choice : nil
        if cancel?.isLater == true { try await leaveAlone(trials) }
        // To those that have ended by now no cancel does anything.
        let early = trials.indices.filter { cancel != nil && trials[$0].hasEnded }
        let open = trials.indices.filter { !early.contains($0) }
        let isChosen = { (number: Int) in cancel?.isMeant(number, of: size(count)) ?? false }
        let chosen = open.filter(isChosen).map { trials[$0] }
        for trial in chosen { trial.cancel() }
        let numbers = (0..<inputCount).map { first in
            open.filter { $0 % inputCount == first && !isChosen($0) }
        }
        let spared = numbers.map { $0.map { trials[$0] } }
        let cancelled = awaitsCancelled ? chosen : []
        _ = try await comes(within: patience.request) {
            for trial in spared.joined() { try await trial.answered() }
            for trial in cancelled { try await trial.ended() }
        }
        // A stream may notice after its answer, and a second callback comes after the first.
        let lasting = spared.map { $0.filter { $0.isStream || $0.callsBack } }
        let isLong = ends.contains { $0 > 0 }
        _ = try await comes(within: isLong ? max(patience.request, patience.cancel) : patience.cancel) {
            for (trials, end) in zip(lasting, isLong ? ends : lasting.map(\.count)) {
                try await wait(for: end, of: trials)
            }
            for number in early { try await trials[number].over() }
        }
        let answers = numbers.joined().map { ($0, trials[$0].answer) }
        return ContractCrowd(
            spared, strange: try await strange(among: answers), early: early.map { trials[$0] }, cancelled: cancelled)
    }

    private func size(_ count: Int) -> CrowdSize { CrowdSize(count: count, inputCount: inputCount) }

    /// Those that are made together are asked from a task each: asked from one, a provider that doesn't suspend would
    /// never have two threads in it, and the Thread Sanitizer nothing to see.
    ///
    /// - Parameter keepsTurns: Whether the first with each input are on their way before others come, and all others
    ///   before the last. So nobody overtakes them before they first suspend, if tasks start on the spot.
    func ask(_ count: Int, _ provider: Provider, keepingTurns keepsTurns: Bool = false) async -> [Trial] {
        var trials: [Trial] = []
        for lot in size(count).lots(keepsTurns: keepsTurns) {
            trials += await withTaskGroup { group in
                for number in lot {
                    group.addTask {
                        let trial = ask(provider, number: number)
                        // Where it doesn't start on the spot. What is cancelled here is the battery, which ends soon.
                        try? await trial.begun()
                        return (number, trial)
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
            }
        }
        return trials
    }

    /// Waits until so many are over.
    private func wait(for count: Int, of trials: [Trial]) async throws {
        try await withThrowingTaskGroup { group in
            for trial in trials { group.addTask { try await trial.over() } }
            for _ in 0..<count { try await group.next() }
            group.cancelAll()
        }
    }
}
