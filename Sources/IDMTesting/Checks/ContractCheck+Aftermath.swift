import IDMCore

/// What is asked after others were cancelled.
extension ContractCheck {
    /// Cancels so many requests at once, all of them, and looks at what becomes of those that are made later: they are
    /// to end as where nobody was cancelled. Looks three times, since what fails now and then may do so by chance.
    func aftermath(of count: Int) async throws -> String? {
        var trouble = try await trouble(after: count, pause: .zero)
        for look in 1...2 where trouble != nil {
            guard let time = try await timeWithoutTrouble(count) else { return nil }
            // A server that all share may count as well, and is to be met elsewhere in its count each time.
            for _ in 0..<(3 * look) { try await askAlone() }
            // A provider that lets nobody in for a while does so with a cancel and without. An answer that goes to
            // others may come in that while.
            trouble = try await self.trouble(after: count, pause: trouble == .mixedUp ? .zero : time)
        }
        let whose = count == 1 ? "a request" : "\(count) requests"
        return trouble.map { "expected the cancel of \(whose) to leave a later one alone, and it \($0.words)." }
    }

    /// Nil also if there was nothing to cancel: all had ended by then.
    private func trouble(after count: Int, pause: Duration) async throws -> ContractFate? {
        // A second time, where they have ended because the timer was late.
        for _ in 0..<2 {
            let provider = try make()
            let trials = await ask(count, provider)
            defer { for trial in trials { trial.cancel() } }
            try await leaveAlone(trials)
            let cancelled = trials.filter { $0.cancel() }
            guard !cancelled.isEmpty else { continue }
            _ = try await comes(within: patience.cancel) { for trial in cancelled { try await trial.ended() } }
            if pause > .zero { try await patience.clock.pause(for: pause) }
            return try await trouble(with: provider, after: count)
        }
        return nil
    }

    /// How long so many requests at once take that nobody cancels. Nil if there is trouble with a new provider, or
    /// after them.
    private func timeWithoutTrouble(_ count: Int) async throws -> Duration? {
        guard try await trouble(with: try make(), after: count) == nil else { return nil }
        let provider = try make()
        let trials = await ask(count, provider)
        defer { for trial in trials { trial.cancel() } }
        let time = try await patience.clock.measure { try await answered(trials) }
        // One that fails by count has failed by now, wherever the ones after a cancel stand in its count, or does so
        // with those that come next.
        if count == 1 && trials[0].fate != nil { return nil }
        return try await trouble(with: provider, after: count) == nil ? time : nil
    }

    /// What becomes of later requests. After one, each is to be answered. Of many nobody knows how many a provider has
    /// counted that fails by count: then one of three is to be.
    private func trouble(with provider: Provider, after count: Int) async throws -> ContractFate? {
        var trouble: ContractFate?
        for number in count == 1 ? [1, 0] : [0, 1, 2] {
            let trial = ask(provider, number: number)
            defer { trial.cancel() }
            try await answered([trial])
            let fate = trial.fate
            let strangers = try await strangers(among: fate == nil ? [(number, trial.answer)] : [])
            trouble = strangers > 0 ? .mixedUp : fate
            let isDecided = count == 1 ? trouble != nil : trouble == nil || trouble == .open
            if isDecided { break }
        }
        return trouble
    }
}
