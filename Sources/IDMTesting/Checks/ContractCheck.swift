import IDMCore

/// Looks at one rule of the contract at a time.
struct ContractCheck<Provider: DataProvider>: Sendable {
    typealias Patience = DataProviderContract.Patience

    typealias Comparison = @Sendable (Provider.Output, Provider.Output) -> Bool

    let input: Provider.Input
    /// What many requests at once are made with besides, in turn, and how their answers are held against one another.
    var others: (inputs: [Provider.Input], isSame: Comparison)?
    /// The answer that each input gets alone. It is asked for when somebody needs it.
    var alone: [Provider.Output?] = []
    let patience: Patience
    let make: @Sendable () throws -> Provider

    typealias Breach = DataProviderContract.Breach

    /// What was expected and what came, if the rule was broken. Among many requests another one may be found broken
    /// that a look at a few has missed.
    func breaches(of rule: DataProviderContract.Rule) async throws -> [Breach] {
        func broken(_ message: String?) -> [Breach] { message.map { [Breach(rule: rule, message: $0)] } ?? [] }
        return switch rule {
        case .answersOnce: broken(try await answers())
        case .hearsCancel: broken(try await isLate(looks: 3) ? lateness : nil)
        case .answersNothingAfterCancel:
            broken(
                try await answersAfterCancel() ? "expected a cancelled request to throw, and a value came." : nil)
        case .takesConcurrentRequests: try await takesMany()
        case .isReleased: broken(try await holding())
        }
    }

    var lateness: String { "expected the end of a cancelled request within \(patience.cancel), and none came." }

    // MARK: The rules

    private func answers() async throws -> String? {
        if let words = try await answersOnce() { return words }
        guard Provider.self is any CallbackDataProvider.Type else { return nil }
        // At once it may not have begun what goes on after a cancel.
        for moment in [Duration.zero, patience.beforeCancel] {
            if let words = try await answersCancel(after: moment) { return words }
        }
        return nil
    }

    /// Looks at one request, with one of the inputs.
    func answersOnce(_ number: Int = 0) async throws -> String? {
        let trial = ask(try make(), number: number)
        defer { trial.cancel() }
        guard try await comes(within: patience.request, { try await trial.answered() }) else {
            return "expected an answer within \(patience.request), and none came."
        }
        // The value of a stream may be its last: the end is looked at as well, if it comes soon.
        if trial.isStream { _ = try await comes(within: patience.cancel) { try await trial.over() } }
        if trial.endedAsCancelled { return "expected a value or an error, and it ended as cancelled." }
        guard trial.callsBack else {
            return trial.isUnanswered ? "expected a value or an error, and it ended with neither." : nil
        }
        // Either it has let the completion go, and can't call any more, or it is given the time that an answer may
        // take.
        _ = try await comes(within: patience.request) { try await trial.over() }
        guard trial.callbacks == 1 else {
            return "expected one callback for a request, and \(trial.callbacks.orNone) came."
        }
        return nil
    }

    private func answersCancel(after moment: Duration) async throws -> String? {
        let trial = ask(try make())
        defer { trial.cancel() }
        if try await comes(within: moment, { try await trial.ended() }) { return nil }
        if try await cancel([trial]).isEmpty { return nil }
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

    private func cancel(after moment: Duration) async throws -> CancelResult {
        // A second time, where it has ended because the timer was late.
        for _ in 0..<2 {
            let trial = ask(try make())
            defer { trial.cancel() }
            // One that is about to answer has nothing to do with a cancel, and needn't look for it.
            if try await comes(within: moment, { try await trial.ended() }) { continue }
            if try await cancel([trial]).isEmpty { continue }
            guard try await comes(within: patience.cancel, { try await trial.ended() }) else { return .late }
            return trial.hasAnsweredAfterCancel ? .answered(trial) : .threw
        }
        return .none
    }

    /// Whether one of some requests, made one after the other, doesn't end soon after its cancel.
    func isLate(looks: Int = 1) async throws -> Bool {
        for _ in 0..<looks where try await cancel(after: patience.beforeCancel).isLate { return true }
        return false
    }

    /// A value may be on its way when the cancel comes. A provider that hears its cancel doesn't have that at most of
    /// five moments, unless it is a stream that looks for a cancel before each value: that ends with what was on its
    /// way.
    private func answersAfterCancel() async throws -> Bool {
        var (moment, answers, others) = (patience.beforeCancel, 0, 0)
        var ended: ContractTrial<Provider>?
        while answers < 3 {
            switch try await cancel(after: moment) {
            case .answered(let trial):
                answers += 1
                if trial.isStream && trial.valuesAfterCancel == 1 { ended = trial }
            case .threw, .late:
                others += 1
                guard others < 3 else { return false }
            // It takes no longer than that.
            case .none: return false
            }
            // Another moment each time: one that takes just as long always meets its cancel at the first.
            moment = moment / 4 * 3
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

    private func holding() async throws -> String? {
        guard Provider.self is AnyObject.Type || Provider.self == Erased.self else { return nil }
        var hasLooked = false
        for isCancelled in [false, true] {
            guard let held = try await use(cancelling: isCancelled) else { continue }
            hasLooked = true
            if try await stays(held) { return "expected to be released after use, and something holds it." }
        }
        return hasLooked ? nil : "expected a use to end, to look at what holds it then, and none did."
    }

    private typealias Erased = AnyDataProvider<Provider.Input, Provider.Output>

    /// The provider, or the one inside if it is erased. Nil unless that is an object.
    private static func object(of provider: Provider) -> AnyObject? {
        let base: any DataProvider = (provider as? Erased)?.base ?? provider
        return type(of: base) is AnyObject.Type ? base as AnyObject : nil
    }

    /// Uses a provider that is gone when this returns, if nobody else holds it. Nil if the use doesn't end.
    private func use(cancelling isCancelled: Bool) async throws -> Held? {
        let provider = try make()
        let held = Held(Self.object(of: provider))
        let trial = ask(provider)
        defer { trial.cancel() }
        // An erased value. It is asked all the same: who makes it may count on that.
        guard held.isThere else { return held }
        try await trial.begun()
        if !isCancelled {
            guard try await comes(within: patience.request, { try await trial.answered() }) else { return nil }
        }
        // A stream that goes on for ever ends with this as well.
        _ = try await cancel([trial])
        guard try await comes(within: patience.cancel, { try await trial.ended() }) else { return nil }
        await trial.finish()
        return held
    }

    /// What holds it may be on its way out. So whoever is still there is looked at again, less and less often.
    private func stays(_ held: Held) async throws -> Bool {
        var (waited, pause) = (Duration.zero, Duration.milliseconds(1))
        while held.isThere {
            guard waited < patience.cancel.bounded else { return true }
            _ = try await comes(within: pause) { try await Watched(false).wait { $0 } }
            waited += pause
            pause *= 2
        }
        return false
    }

    // MARK: Time

    /// Gives requests the time to answer.
    func answered(_ trials: [ContractTrial<Provider>]) async throws {
        _ = try await comes(within: patience.request) { for trial in trials { try await trial.answered() } }
    }

    /// Cancels requests, and returns those that it reaches. Where there are none, they are given the time to answer:
    /// whoever is asked next is not to stand in line behind them.
    func cancel(_ trials: [ContractTrial<Provider>]) async throws -> [ContractTrial<Provider>] {
        let cancelled = trials.filter { $0.cancel() }
        if cancelled.isEmpty { try await answered(trials) }
        return cancelled
    }

    /// Leaves requests alone for the moment that there is before a cancel, unless all end sooner.
    func leaveAlone(_ trials: [ContractTrial<Provider>]) async throws {
        _ = try await comes(within: patience.beforeCancel) { for trial in trials { try await trial.ended() } }
    }

    func ask(_ provider: Provider) -> ContractTrial<Provider> {
        ContractTrial(provider, input, clock: patience.clock)
    }

    /// How many inputs there are.
    var inputCount: Int { 1 + (others?.inputs.count ?? 0) }

    /// Asks with one of the inputs, and keeps the answer.
    func ask(_ provider: Provider, number: Int) -> ContractTrial<Provider> {
        guard let others else { return ask(provider) }
        let inputs = [input] + others.inputs
        return ContractTrial(provider, inputs[number % inputs.count], keepsAnswer: true, clock: patience.clock)
    }

    /// Whether something comes before the time is over: otherwise it is left behind.
    func comes(
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

    init(_ object: AnyObject?) {
        self.object = object
    }

    var isThere: Bool { object != nil }
}
