import IDMCore

/// Looks at one rule of the contract at a time.
struct ContractCheck<Provider: DataProvider>: Sendable {
    typealias Patience = DataProviderContract.Patience

    let input: Provider.Input
    let patience: Patience
    let make: @Sendable () throws -> Provider

    /// What was expected and what came, if the rule was broken.
    func breach(of rule: DataProviderContract.Rule) async throws -> String? {
        switch rule {
        case .answersOnce: try await answers()
        case .hearsCancel: try await cancel().isLate ? "expected the end of a cancelled request, and none came." : nil
        case .answersNothingAfterCancel:
            try await answersAfterEveryCancel() ? "expected a cancelled request to throw, and a value came." : nil
        case .takesConcurrentRequests: try await takesMany()
        case .isReleased: try await holding()
        }
    }

    // MARK: The rules

    private func answers() async throws -> String? {
        let trial = ask(try make())
        defer { trial.cancel() }
        guard try await comes(within: patience.request, { try await trial.answered() }) else {
            return "expected an answer within \(patience.request), and none came."
        }
        if trial.endedAsCancelled { return "expected a value or an error, and it ended as cancelled." }
        if trial.endedWithNothing { return "expected a value or an error, and it ended with neither." }
        // Either it has let the completion go, and can't call any more, or it is given the time that an answer may
        // take.
        guard trial.callsBack else { return nil }
        _ = try await comes(within: patience.request) { try await trial.over() }
        guard trial.callbacks == 1 else {
            return "expected one callback for a request, and \(trial.callbacks.orNone) came."
        }
        return try await answersCancel()
    }

    private func answersCancel() async throws -> String? {
        let trial = ask(try make())
        guard trial.callsBack, trial.cancel() else { return nil }
        _ = try await comes(within: patience.cancel) { try await trial.over() }
        guard trial.callbacks > 1 else { return nil }
        return "expected one callback for a cancelled request at most, and \(trial.callbacks) came."
    }

    private enum CancelResult {
        /// It had ended before, or can't be cancelled.
        case none
        case threw, late
        case answered(ContractTrial<Provider>)

        var isLate: Bool { if case .late = self { true } else { false } }
    }

    private func cancel() async throws -> CancelResult {
        let trial = ask(try make())
        // One that is about to answer has nothing to do with a cancel, and needn't look for it.
        guard try await !comes(within: patience.beforeCancel, { try await trial.ended() }), trial.cancel() else {
            return .none
        }
        guard try await comes(within: patience.cancel, { try await trial.ended() }) else { return .late }
        return trial.hasAnsweredAfterCancel ? .answered(trial) : .threw
    }

    /// A value may be on its way when the cancel comes. A provider that hears its cancel doesn't have that each time,
    /// unless it is a stream that looks for a cancel before each value: that ends with what was on its way.
    private func answersAfterEveryCancel() async throws -> Bool {
        var ended: ContractTrial<Provider>?
        for _ in 0..<5 {
            guard case .answered(let trial) = try await cancel() else { return false }
            if trial.isStream && trial.valuesAfterCancel == 1 { ended = trial }
        }
        guard let ended else { return true }
        return try await !goesOn(after: ended.values)
    }

    /// Whether a stream that nobody cancels has more values than that.
    private func goesOn(after count: Int) async throws -> Bool {
        let trial = ask(try make())
        defer { trial.cancel() }
        _ = try await comes(within: patience.request) { try await trial.hasMore(than: count) }
        return trial.values > count
    }

    /// Asks twenty times at once, and cancels some, but neither the first nor the last: nobody else is to notice.
    private func takesMany() async throws -> String? {
        let trials = await askMany(try make())
        let cancelled = trials.cancelled, others = trials.others
        defer { for trial in others { trial.cancel() } }
        for trial in cancelled + others { try await trial.begun() }
        for trial in cancelled { trial.cancel() }
        let allEnd = try await comes(within: patience.request) {
            for trial in others { try await trial.answered() }
            for trial in cancelled { try await trial.ended() }
        }
        guard allEnd else {
            let count = others.count { !$0.hasAnswered } + cancelled.count { !$0.hasEnded }
            return "expected 20 requests at once to end, and \(count) of them did not."
        }
        // A stream may notice after its answer.
        let streams = others.filter(\.isStream)
        _ = try await comes(within: patience.cancel) { for stream in streams { try await stream.over() } }
        let (wronged, ended) = (others.count(where: \.endedAsCancelled), streams.count(where: \.hasEndedStream))
        if wronged > 0 { return words(for: wronged, "ended as cancelled") }
        guard ended > 0, try await !someEndUncancelled() else { return nil }
        return words(for: ended, "ended")
    }

    private func words(for count: Int, _ end: String) -> String {
        "expected the cancel of a request to leave others alone, and \(count) of them \(end)."
    }

    /// Asks as often, and cancels nothing. Whether streams end all the same, in as much time.
    private func someEndUncancelled() async throws -> Bool {
        let trials = await askMany(try make())
        defer { for trial in trials.cancelled + trials.others { trial.cancel() } }
        return try await comes(within: patience.request + patience.cancel) {
            try await withThrowingTaskGroup { group in
                for trial in trials.others { group.addTask { try await trial.over() } }
                try await group.next()
                group.cancelAll()
            }
        }
    }

    /// Asks twenty times at once.
    ///
    /// - Returns: Those that are to be cancelled, and the others.
    private func askMany(
        _ provider: Provider
    ) async -> (cancelled: [ContractTrial<Provider>], others: [ContractTrial<Provider>]) {
        // Those between the first and the last are asked from a task each: asked from one, a provider that doesn't
        // suspend would never have two threads in it, and the Thread Sanitizer nothing to see.
        let between = await withTaskGroup { group in
            let first = ask(provider)
            for _ in 1..<19 { group.addTask { ask(provider) } }
            return await group.reduce(into: [first]) { $0.append($1) }
        }
        let trials = between + [ask(provider)]
        let cancelled = Array(stride(from: 1, to: 19, by: 2))
        let others = trials.indices.filter { !cancelled.contains($0) }
        return (cancelled.map { trials[$0] }, others.map { trials[$0] })
    }

    private func holding() async throws -> String? {
        guard Provider.self is AnyObject.Type else { return nil }
        var hasLooked = false
        for isCancelled in [false, true] {
            guard let held = try await use(cancelling: isCancelled) else { continue }
            hasLooked = true
            if try await stays(held) { return "expected to be released after use, and something holds it." }
        }
        return hasLooked ? nil : "expected a use to end, to look at what holds it then, and none did."
    }

    /// Uses a provider that is gone when this returns, if nobody else holds it. Nil if the use doesn't end.
    private func use(cancelling isCancelled: Bool) async throws -> Held? {
        let provider = try make()
        let held = Held(provider as AnyObject)
        let trial = ask(provider)
        try await trial.begun()
        if !isCancelled {
            guard try await comes(within: patience.request, { try await trial.answered() }) else { return nil }
        }
        // A stream that goes on for ever ends with this as well.
        trial.cancel()
        guard try await comes(within: patience.cancel, { try await trial.ended() }) else { return nil }
        await trial.finish()
        return held
    }

    /// What holds it may be on its way out. So whoever is still there is looked at again, less and less often.
    private func stays(_ held: Held) async throws -> Bool {
        var (waited, pause) = (Duration.zero, Duration.milliseconds(1))
        while held.isThere {
            guard waited < patience.cancel else { return true }
            _ = try await comes(within: pause) { try await Watched(false).wait { $0 } }
            waited += pause
            pause *= 2
        }
        return false
    }

    // MARK: Time

    private func ask(_ provider: Provider) -> ContractTrial<Provider> {
        ContractTrial(provider, input, clock: patience.clock)
    }

    /// Whether something comes before the time is over: otherwise it is left behind.
    private func comes(
        within duration: Duration, _ wait: @escaping @Sendable () async throws -> Void
    ) async throws -> Bool {
        let clock = patience.clock
        let answer = Watched<Bool?>(nil)
        let waiting = LibraryTask.startAtOnce(clock: clock, isolation: nil) { _ in
            guard (try? await wait()) != nil else { return }
            answer.change { $0 = $0 ?? true }
        }
        defer { waiting.cancel() }
        // What is there already needs no time.
        if let answer = answer.value { return answer }
        let timer = LibraryTask.startAtOnce(clock: clock, isolation: nil) { _ in
            guard (try? await clock.pause(for: duration)) != nil else { return }
            answer.change { $0 = $0 ?? false }
        }
        defer { timer.cancel() }
        try await answer.wait { $0 != nil }
        return answer.value == true
    }
}

/// Something that may have gone.
private struct Held {
    weak let object: AnyObject?

    init(_ object: AnyObject) {
        self.object = object
    }

    var isThere: Bool { object != nil }
}
