extension ContractCheck {
    typealias Trial = ContractTrial<Provider>

    /// Asks many times at once, and cancels some: nobody else is to notice. What happens anyhow is no fault of a
    /// cancel, and what happens to a request alone is no fault of many, but of each.
    func takesMany() async throws -> [Breach] {
        // Once for all looks: where a request takes seconds, these would take most of the time.
        var check = self
        check.alone = try await answersAlone()
        var crowd = CrowdFindings()
        let fault = try await check.fault(among: 20, &crowd) ?? crowd.fault
        let ofMany = crowd.ofEach == nil ? fault : nil
        let own = ofMany.map { Breach(rule: .takesConcurrentRequests, message: $0) }
        return [own, crowd.ofEach, crowd.lateness].compactMap(\.self)
    }

    private func fault(among count: Int, _ crowd: inout CrowdFindings) async throws -> String? {
        for choice in CrowdCancel.ways(inputCount: inputCount) {
            let meddled = try await askMany(count, for: choice, awaitingCancelled: crowd.lateness == nil)
            if meddled.fault != nil, !crowd.hasAskedAlone {
                crowd.hasAskedAlone = true
                crowd.ofEach = try await faultOfEach()
                guard crowd.ofEach == nil else { return nil }
            }
            if !meddled.isInnocent, let words = try await harm(of: choice, among: count, meddled, &crowd) {
                return words
            }
            guard meddled.stuck > 0, crowd.lateness == nil else { continue }
            guard try await isLate() else {
                return "expected all that were cancelled of \(count) requests to end, and \(meddled.stuck) did not."
            }
            crowd.lateness = Breach(rule: .hearsCancel, message: lateness)
        }
        return try await afterwards(among: count)
    }

    private func faultOfEach() async throws -> Breach? {
        for number in 0..<inputCount {
            if let words = try await answersOnce(number) { return Breach(rule: .answersOnce, message: words) }
        }
        return nil
    }

    private func afterwards(among count: Int) async throws -> String? {
        if let words = try await mixUp(among: count) { return words }
        if let words = try await aftermath(of: 1) { return words }
        return try await aftermath(of: count)
    }

    /// Looks three times: what comes now and then by itself may have come by chance, and to all at once where requests
    /// share one. Six times where some fail, or streams end: which of many those are, and when, may be chance as well.
    private func harm(
        of choice: CrowdCancel, among count: Int, _ first: ContractCrowd, _ crowd: inout CrowdFindings
    ) async throws -> String? {
        var (meddled, harm) = (first, String?.none)
        for look in 0..<(first.mayDiffer ? 6 : 3) {
            // A server that all share may count, and is to be met elsewhere in its count each time.
            if look > 0 { _ = try await askMany(7 * look) }
            // Each comes first by turns: what grows as time goes on is longer where it comes later.
            let isFirst = look.isMultiple(of: 2)
            let before = isFirst ? nil : try await askUndisturbed(count, as: choice, until: meddled.ends)
            if look > 0 { meddled = try await askMany(count, for: choice) }
            if let fault = meddled.timelessFault {
                guard meddled.isDisturbed else { return words(for: fault, among: count) }
                crowd.fault = crowd.fault ?? words(for: "\(fault) where some were cancelled", among: count)
            }
            let alike =
                if let before { before } else { try await askUndisturbed(count, as: choice, until: meddled.ends) }
            if let fault = alike.fault { return words(for: fault, among: count) }
            crowd.note(alike.lengths)
            let failing = alone.indices.filter { alone[$0] == nil }
            harm = meddled.harm(beside: alike, failingAlone: failing, varying: crowd.varying)
            if harm == nil { return nil }
        }
        return harm.map { "expected the cancel of some of \(count) requests to leave the others alone, and \($0)." }
    }

    /// Asks many just as if some were to be cancelled.
    private func askUndisturbed(
        _ count: Int, as choice: CrowdCancel, until ends: [Int]
    ) async throws -> ContractCrowd {
        try await askMany(count, for: choice, cancelling: false, until: ends)
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
            spared, strange: try await strange(among: answers), early: early.map { trials[$0] }, cancelled: cancelled,
            isDisturbed: !chosen.isEmpty)
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
