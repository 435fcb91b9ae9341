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
        case .isReleased: try await staysHeld() ? "expected to be released after use, and something holds it." : nil
        }
    }

    // MARK: The rules

    private func answers() async throws -> String? {
        let provider = try make()
        guard await end(of: Trial(provider, input), within: patience.request) != nil else {
            return "expected an answer within \(patience.request), and none came."
        }
        guard let calling = provider as? any CallbackDataProvider<Provider.Input, Provider.Output> else { return nil }
        let calls = Watched(0)
        let completionIsGone = Watched(false)
        ask(calling, counting: calls) { completionIsGone.change { $0 = true } }
        // Either it has let the completion go, and can't call any more, or it is given the time that an answer may
        // take.
        _ = await outcome(within: patience.request) { try await completionIsGone.wait { $0 } }
        return calls.value == 1 ? nil : "expected one callback for a request, and \(calls.value) came."
    }

    /// Asks, and holds nothing of the completion when this returns.
    private func ask(
        _ provider: any CallbackDataProvider<Provider.Input, Provider.Output>, counting calls: Watched<Int>,
        whenGone: @escaping @Sendable () -> Void
    ) {
        let canary = Canary(whenGone)
        _ = provider.request(input) { _ in withExtendedLifetime(canary) { calls.change { $0 += 1 } } }
    }

    private enum CancelResult {
        /// It had ended before.
        case none
        case threw, answered, late

        var isLate: Bool { if case .late = self { true } else { false } }
    }

    private func cancel() async throws -> CancelResult {
        let trial = Trial(try make(), input)
        await trial.begun()
        guard trial.cancel() else { return .none }
        switch await end(of: trial, within: patience.cancel) {
        case .success?: return .answered
        case .failure?: return .threw
        case nil: return .late
        }
    }

    /// A value may be on its way when the cancel comes. A provider that hears its cancel doesn't have that each time.
    private func answersAfterEveryCancel() async throws -> Bool {
        for _ in 0..<5 {
            guard case .answered = try await cancel() else { return false }
        }
        return true
    }

    private func takesMany() async throws -> String? {
        let provider = try make()
        let trials = (0..<20).map { _ in Trial(provider, input) }
        let end = await outcome(within: patience.request) {
            for trial in trials { try await trial.ended() }
        }
        guard end == nil else { return nil }
        return "expected 20 requests at once to end, and \(trials.count { !$0.hasEnded }) of them did not."
    }

    private func staysHeld() async throws -> Bool {
        guard Provider.self is AnyObject.Type else { return false }
        return try await use()?.isThere ?? false
    }

    /// Uses a provider that is gone when this returns, if nobody else holds it. Nil if the use doesn't end: that breaks
    /// another rule.
    private func use() async throws -> Held? {
        let provider = try make()
        let held = Held(provider as AnyObject)
        let trial = Trial(provider, input)
        guard await end(of: trial, within: patience.request) != nil else { return nil }
        await trial.over()
        return held
    }

    // MARK: Time

    private func end(of trial: Trial<Provider>, within duration: Duration) async -> Result<Void, any Error>? {
        await outcome(within: duration) { try await trial.end() }
    }

    /// How an operation ended, or nil if the time was over first: it is then cancelled and left behind.
    private func outcome(
        within duration: Duration, _ operation: @escaping @Sendable () async throws -> Void
    ) async -> Result<Void, any Error>? {
        let first = Watched<Result<Void, any Error>??>(nil)
        let work = Task {
            let result: Result<Void, any Error>
            do {
                try await operation()
                result = .success(())
            } catch {
                result = .failure(error)
            }
            first.change { if $0 == nil { $0 = .some(result) } }
        }
        let clock = patience.clock
        let timer = Task {
            try await clock.sleep(for: duration)
            first.change { if $0 == nil { $0 = .some(nil) } }
        }
        try? await first.wait(deaf: true) { $0 != nil }
        work.cancel()
        timer.cancel()
        return first.value ?? nil
    }
}

/// One request in a task of its own.
private final class Trial<Provider: DataProvider>: Sendable {
    private struct State {
        var hasBegun = false
        var result: Result<Void, any Error>?
        var task: Task<Void, Never>?
    }

    private let state: Watched<State>

    init(_ provider: Provider, _ input: Provider.Input) {
        let state = Watched(State())
        self.state = state
        let task = Self.start {
            state.change { $0.hasBegun = true }
            let result: Result<Void, any Error>
            do {
                _ = try await provider.request(input)
                result = .success(())
            } catch {
                result = .failure(error)
            }
            state.change { $0.result = result }
        }
        state.change { $0.task = task }
    }

    /// Starts on the spot where the platform can: then a request that doesn't suspend has ended when this returns, and
    /// no cancel can meet it.
    private static func start(_ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            return Task.immediate { await operation() }
        }
        return Task { await operation() }
    }

    func begun() async {
        try? await state.wait(deaf: true) { $0.hasBegun }
    }

    /// Cancels the request. False if it has ended.
    func cancel() -> Bool {
        let state = state.value
        guard state.result == nil else { return false }
        state.task?.cancel()
        return true
    }

    var hasEnded: Bool { state.value.result != nil }

    /// Waits for the end, however it comes.
    func ended() async throws {
        try await state.wait { $0.result != nil }
    }

    /// Waits for the end, and throws what the request threw.
    func end() async throws {
        try await ended()
        try state.value.result?.get()
    }

    /// Waits until the task has let everything go.
    func over() async {
        guard state.value.result != nil else { return }
        await state.value.task?.value
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

/// Tells when it goes.
private final class Canary: Sendable {
    private let whenGone: @Sendable () -> Void

    init(_ whenGone: @escaping @Sendable () -> Void) {
        self.whenGone = whenGone
    }

    deinit {
        whenGone()
    }
}
