import IDMCore

/// What is asked after others were cancelled.
extension ContractCheck {
    /// What becomes of later requests that get no answer, or not as they should.
    private struct Later {
        let fate: ContractFate
        /// How long after the ones before they were made.
        let pause: Duration
    }

    /// Cancels so many requests at once, all of them, and looks at what becomes of those that are made later: they are
    /// to end as where nobody was cancelled. Looks three times, since what fails now and then may do so by chance.
    func aftermath(of count: Int) async throws -> String? {
        var later = try await afterCancel(of: count, rest: .zero)
        for look in 1...2 {
            guard let found = later else { return nil }
            // What a provider tells by then it may tell by then without the cancel.
            let (usual, time) = try await usualFates(after: count, pause: found.fate.isOfAnswer ? found.pause : nil)
            if usual.contains(where: found.fate.isExcused) { return nil }
            // A server that all share may count as well, and is to be met elsewhere in its count each time.
            for _ in 0..<(3 * look) { _ = try await askOne(try make(), 0) }
            // A provider that lets nobody in for a while does so with a cancel and without. What it does then is to
            // fail: an answer that goes to others, or an end as if cancelled, may come in that while only.
            let mayPass = found.fate == .failed || found.fate == .changed
            later = try await afterCancel(of: count, rest: mayPass ? time : .zero)
        }
        let whose = count == 1 ? "a request" : "\(count) requests"
        return later.map { "expected the cancel of \(whose) to leave a later one alone, and it \($0.fate.words)." }
    }

    /// Nil also if there was nothing to cancel: all had ended by then.
    ///
    /// - Parameter rest: How long nobody is asked after the cancel.
    private func afterCancel(of count: Int, rest: Duration) async throws -> Later? {
        // A second time, where they have ended because the timer was late.
        for _ in 0..<2 {
            let provider = try make()
            let trials = await ask(count, provider)
            defer { for trial in trials { trial.cancel() } }
            var isCancelled = false
            let pause = try await patience.clock.measure {
                isCancelled = try await cancelAll(trials)
                if isCancelled && rest > .zero { try await patience.clock.pause(for: rest) }
            }
            guard isCancelled else { continue }
            return try await laterFate(of: provider, after: count).map { Later(fate: $0, pause: pause) }
        }
        return nil
    }

    /// Cancels requests after a moment, and gives them the time to end. False if there was nothing to cancel.
    private func cancelAll(_ trials: [Trial]) async throws -> Bool {
        try await leaveAlone(trials)
        let cancelled = try await cancel(trials)
        _ = try await comes(within: patience.cancel) { for trial in cancelled { try await trial.ended() } }
        return !cancelled.isEmpty
    }

    /// What becomes of later requests where nobody is cancelled, and how long those before take.
    ///
    /// - Parameter pause: How long after those before they are to be made at least. Nil where that makes no difference.
    private func usualFates(after count: Int, pause: Duration?) async throws -> (fates: [ContractFate], time: Duration)
    {
        let new = try await laterFate(of: try make(), after: count)
        if let new, !new.isOfAnswer { return ([new], .zero) }
        let provider = try make()
        let trials = await ask(count, provider)
        defer { for trial in trials { trial.cancel() } }
        let time = try await patience.clock.measure { try await answered(trials) }
        // One that fails by count has failed by now, wherever the ones after a cancel stand in its count, or does so
        // with those that come next.
        if count == 1, let own = trials[0].fate { return ([own], time) }
        if let pause {
            // A moment more than after the cancel: what it learns just at that time is known here in any case.
            try await patience.clock.pause(for: max(.zero, pause - time) + patience.beforeCancel)
        }
        let later = try await laterFate(of: provider, after: count)
        return ([new, later].compactMap(\.self), time)
    }

    /// What becomes of later requests. After one, each is to be answered. Of many nobody knows how many a provider has
    /// counted that fails by count: then one of three is to be. Answers are mixed up by no count.
    private func laterFate(of provider: Provider, after count: Int) async throws -> ContractFate? {
        var fates: [ContractFate] = []
        var answers: [Numbered] = []
        for number in count == 1 ? [1, 0] : [1, 2, 3] {
            let (fate, answer) = try await askOne(provider, number)
            guard let fate else {
                answers.append((number, answer))
                if count > 1 && others == nil { break }
                continue
            }
            fates.append(fate)
            if fate == .open { break }
        }
        let strange = try await strange(among: answers).map(\.fate)
        if strange.contains(.mixedUp) { return .mixedUp }
        fates += strange
        if count == 1 { return fates.min() }
        return strange.count < answers.count ? nil : fates.max()
    }
}
