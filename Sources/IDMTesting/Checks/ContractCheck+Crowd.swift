extension ContractCheck {
    typealias Trial = ContractTrial<Provider>

    /// Asks many times at once, and cancels some: nobody else is to notice. What happens anyhow is no fault of a
    /// cancel, and what happens to a request alone is no fault of many.
    func takesMany() async throws -> String? {
        // Once for all looks: where a request takes seconds, these would take most of the time.
        var check = self
        check.alone = try await answersAlone()
        return try await check.takesMany(20)
    }

    private func takesMany(_ count: Int) async throws -> String? {
        var (hasAskedOne, isDeaf) = (false, false)
        for choice in CrowdCancel.ways(inputCount: inputCount) {
            let meddled = try await askMany(count, for: choice, awaitingCancelled: !isDeaf)
            if !meddled.isInnocent {
                if !hasAskedOne {
                    guard try await askMany(1).fault == nil else { return nil }
                    hasAskedOne = true
                }
                if let words = try await harm(of: choice, among: count, meddled) { return words }
            }
            guard meddled.stuck > 0 else { continue }
            isDeaf = try await isLate()
            if !isDeaf {
                return "expected all that were cancelled of \(count) requests to end, and \(meddled.stuck) did not."
            }
        }
        if let words = try await mixUp(among: count) { return words }
        if let words = try await aftermath(of: 1) { return words }
        return try await aftermath(of: count)
    }

    /// Looks three times: what comes now and then by itself may have come by chance, and to all at once where requests
    /// share one. Six times where some fail: which of many those are may be chance as well.
    private func harm(of choice: CrowdCancel, among count: Int, _ meddled: ContractCrowd) async throws -> String? {
        var (meddled, harm) = (meddled, String?.none)
        for look in 0..<(meddled.fails ? 6 : 3) {
            if look > 0 {
                // A server that all share may count, and is to be met elsewhere in its count each time.
                _ = try await askMany(7 * look)
                meddled = try await askMany(count, for: choice)
            }
            let alike = try await askMany(count, for: choice, cancelling: false, until: meddled.ends)
            if let fault = alike.fault { return look == 0 ? words(for: fault, among: count) : nil }
            harm = meddled.harm(beside: alike, failingAlone: alone.indices.filter { alone[$0] == nil })
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
        let isChosen = { (number: Int) in cancel?.isMeant(number, of: size(count)) ?? false }
        let chosen = trials.indices.filter(isChosen).map { trials[$0] }
        let numbers = (0..<inputCount).map { first in
            stride(from: first, to: count, by: inputCount).filter { !isChosen($0) }
        }
        let spared = numbers.map { $0.map { trials[$0] } }
        if cancel?.isLater == true { try await leaveAlone(trials) }
        for trial in chosen { trial.cancel() }
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
        }
        let answers = numbers.joined().map { ($0, trials[$0].answer) }
        return ContractCrowd(spared, strange: try await strange(among: answers), cancelled: cancelled)
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
