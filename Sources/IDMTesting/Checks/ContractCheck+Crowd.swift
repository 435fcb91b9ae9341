extension ContractCheck {
    private typealias Trial = ContractTrial<Provider>

    /// Requests at once, and one that was made later.
    private struct Crowds {
        let many: ContractCrowd
        let later: ContractCrowd
    }

    /// Asks many times at once, and cancels some: nobody else is to notice. What happens anyhow is no fault of a cancel,
    /// and what happens to a request alone is no fault of many.
    func takesMany() async throws -> String? {
        let count = 20
        let meddled = try await askMany(count, cancelling: true)
        let open = meddled.many.open
        if open > 0 { return "expected \(count) requests at once to end, and \(open) of them did not." }
        if let words = try await mixUp(among: count) { return words }
        guard !meddled.many.isInnocent || !meddled.later.isInnocent else { return nil }
        let alike = try await askMany(count, cancelling: false, until: meddled.many.lengths.count)
        if let fault = alike.many.fault {
            let isCommon = try await askMany(1, cancelling: false).many.fault != nil
            return isCommon ? nil : "expected \(count) requests at once \(fault)"
        }
        if let harm = try await lastingHarm(to: { $0.many }, among: count, meddled, alike) {
            return "expected the cancel of a request to leave others alone, and \(harm.count) of them \(harm.words)."
        }
        let harm = try await lastingHarm(to: { $0.later }, among: count, meddled, alike)
        return harm.map { "expected the cancel of a request to leave a later one alone, and it \($0.words)." }
    }

    /// Looks three times: what fails now and then by itself may have done so by chance, and all at once where requests
    /// share one.
    private func lastingHarm(
        to part: (Crowds) -> ContractCrowd, among count: Int, _ meddled: Crowds, _ alike: Crowds
    ) async throws -> (count: Int, words: String)? {
        var harm = part(meddled).harm(beside: part(alike))
        for _ in 0..<2 where harm != nil {
            let again = try await askMany(count, cancelling: true)
            let alike = try await askMany(count, cancelling: false, until: again.many.lengths.count)
            harm = part(again).harm(beside: part(alike))
        }
        return harm
    }

    /// Asks many times at once, and once more when they have had their time.
    ///
    /// - Parameters:
    ///   - isCancelling: Whether every other one is cancelled, but neither the first nor the last.
    ///   - ends: How many streams are worth waiting for a long time.
    private func askMany(
        _ count: Int, cancelling isCancelling: Bool, until ends: Int = 0
    ) async throws -> Crowds {
        let provider = try make()
        let trials = await ask(count, provider)
        defer { for trial in trials { trial.cancel() } }
        let chosen = isCancelling ? Array(stride(from: 1, to: count - 1, by: 2)) : []
        let cancelled = chosen.map { trials[$0] }
        let others = trials.indices.filter { !chosen.contains($0) }.map { trials[$0] }
        for trial in trials { try await trial.begun() }
        for trial in cancelled { trial.cancel() }
        _ = try await comes(within: patience.request) {
            for trial in others { try await trial.answered() }
            for trial in cancelled { try await trial.ended() }
        }
        // A stream may notice after its answer, and a second callback comes after the first.
        let lasting = others.filter { $0.isStream || $0.callsBack }
        let time = ends > 0 ? max(patience.request, patience.cancel) : patience.cancel
        _ = try await comes(within: time) { try await wait(for: ends > 0 ? ends : lasting.count, of: lasting) }
        let many = ContractCrowd(cancelled: cancelled, others: others)
        let last = ask(provider)
        defer { last.cancel() }
        _ = try await comes(within: patience.request) { try await last.answered() }
        var later = ContractCrowd(cancelled: [], others: [last])
        // Its end isn't waited for.
        later.lengths = []
        return Crowds(many: many, later: later)
    }

    /// Asks many times at once with several inputs, and holds each answer against the one that its input gets alone. One
    /// that differs from time to time says nothing.
    private func mixUp(among count: Int) async throws -> String? {
        guard let others else { return nil }
        let trials = await ask(count, try make())
        defer { for trial in trials { trial.cancel() } }
        _ = try await comes(within: patience.request) { for trial in trials { try await trial.answered() } }
        var mixedUp = 0
        for (number, trial) in trials.enumerated() {
            guard let answer = trial.answer, let alone = try await answerAlone(number), !others.isSame(answer, alone),
                let again = try await answerAlone(number), others.isSame(alone, again)
            else { continue }
            mixedUp += 1
        }
        let words = "expected \(count) requests at once to get the answers to their inputs"
        return mixedUp > 0 ? "\(words), and \(mixedUp) of them got others." : nil
    }

    private func answerAlone(_ number: Int) async throws -> Provider.Output? {
        let trial = ask(try make(), number: number)
        defer { trial.cancel() }
        _ = try await comes(within: patience.request) { try await trial.answered() }
        return trial.answer
    }

    /// Those between the first and the last are asked from a task each: asked from one, a provider that doesn't suspend
    /// would never have two threads in it, and the Thread Sanitizer nothing to see.
    private func ask(_ count: Int, _ provider: Provider) async -> [Trial] {
        guard count > 1 else { return [ask(provider)] }
        let first = ask(provider, number: 0)
        let between = await withTaskGroup { group in
            for number in 1..<(count - 1) { group.addTask { (number, ask(provider, number: number)) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let inOrder = between.sorted { $0.0 < $1.0 }.map(\.1)
        return [first] + inOrder + [ask(provider, number: count - 1)]
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
