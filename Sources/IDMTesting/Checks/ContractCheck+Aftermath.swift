import IDMCore

/// What is asked after others were cancelled.
extension ContractCheck {
    /// Cancels so many requests at once, all of them, and looks at what becomes of those that are made later: they are
    /// to end as where nobody was cancelled. Looks three times, since what fails now and then may do so by chance.
    func aftermath(of count: Int) async throws -> String? {
        var fate = try await fateAfterCancel(of: count, pause: .zero)
        for look in 1...2 {
            guard let found = fate else { return nil }
            let (usual, time) = try await usualFate(after: count)
            // An answer that is strange anyhow is no reason for one that doesn't come.
            if let usual, found.isOfAnswer || !usual.isOfAnswer { return nil }
            // A server that all share may count as well, and is to be met elsewhere in its count each time.
            for _ in 0..<(3 * look) { try await askAlone() }
            // A provider that lets nobody in for a while does so with a cancel and without. What it does then is to
            // fail: an answer that goes to others, or an end as if cancelled, may come in that while only.
            let mayPass = found == .failed || found == .changed
            fate = try await fateAfterCancel(of: count, pause: mayPass ? time : .zero)
        }
        let whose = count == 1 ? "a request" : "\(count) requests"
        return fate.map { "expected the cancel of \(whose) to leave a later one alone, and it \($0.words)." }
    }

    /// Nil also if there was nothing to cancel: all had ended by then.
    private func fateAfterCancel(of count: Int, pause: Duration) async throws -> ContractFate? {
        // A second time, where they have ended because the timer was late.
        for _ in 0..<2 {
            let provider = try make()
            let trials = await ask(count, provider)
            defer { for trial in trials { trial.cancel() } }
            try await leaveAlone(trials)
            let cancelled = try await cancel(trials)
            guard !cancelled.isEmpty else { continue }
            _ = try await comes(within: patience.cancel) { for trial in cancelled { try await trial.ended() } }
            if pause > .zero { try await patience.clock.pause(for: pause) }
            return try await laterFate(of: provider, after: count)
        }
        return nil
    }

    /// What becomes of later requests where nobody is cancelled, and how long those before take.
    private func usualFate(after count: Int) async throws -> (fate: ContractFate?, time: Duration) {
        let new = try await laterFate(of: try make(), after: count)
        if let new, !new.isOfAnswer { return (new, .zero) }
        let provider = try make()
        let trials = await ask(count, provider)
        defer { for trial in trials { trial.cancel() } }
        let time = try await patience.clock.measure { try await answered(trials) }
        // As before a cancel: a stream may have more to tell by then, and whoever comes later as well.
        try await leaveAlone(trials)
        // One that fails by count has failed by now, wherever the ones after a cancel stand in its count, or does so
        // with those that come next.
        if count == 1, let own = trials[0].fate { return (own, time) }
        let later = try await laterFate(of: provider, after: count)
        return ([new, later].compactMap(\.self).min(), time)
    }

    /// What becomes of later requests. After one, each is to be answered. Of many nobody knows how many a provider has
    /// counted that fails by count: then one of three is to be. Answers are mixed up by no count.
    private func laterFate(of provider: Provider, after count: Int) async throws -> ContractFate? {
        var fates: [ContractFate] = []
        var isAnswered = false
        for number in count == 1 ? [1, 0] : [1, 2, 3] {
            if let fate = try await laterFate(of: provider, number: number) {
                fates.append(fate)
                if fate == .open { break }
            } else {
                isAnswered = true
                if count > 1 && others == nil { break }
            }
        }
        if count == 1 || fates.contains(.mixedUp) { return fates.min() }
        return isAnswered ? nil : fates.max()
    }

    private func laterFate(of provider: Provider, number: Int) async throws -> ContractFate? {
        let (fate, answer) = try await askOne(provider, number)
        if let fate { return fate }
        return try await strange(among: [(number, answer)]).first?.fate
    }
}
