import IDMCore

/// One request that is held against the contract: made with a callback if the provider calls back, or else in a task.
final class ContractTrial<Provider: DataProvider>: Sendable {
    private struct State {
        let callsBack: Bool
        var hasBegun = false
        var values = 0
        /// The first value, if it is kept.
        var answer: Provider.Output?
        var error: (any Error)?
        var callbacks = 0
        /// Whether nothing can come any more.
        var isOver = false
        var isCancelled = false
        var valuesAfterCancel = 0
        var stop: CancelHandler?
        var task: Task<Void, Never>?

        /// Whether a value or the end has come.
        var hasAnswered: Bool { values > 0 || error != nil || isOver }

        var hasEnded: Bool { callsBack ? hasAnswered : isOver }

        var endedAsCancelled: Bool { !isCancelled && error.flatMap { CancelReason($0) } == .cancelled }

        var isUnanswered: Bool { isOver && !isCancelled && values == 0 && error == nil }
    }

    private let state: Watched<State>
    /// Held for as long as it is looked at, as by whoever asks a provider that calls back. A task holds its own.
    private let provider: Provider?
    /// Whether the provider calls back.
    let callsBack: Bool
    /// Whether the provider is a stream, which may go on after its answer.
    let isStream: Bool

    /// Makes the request.
    ///
    /// - Parameter keepsAnswer: Whether the answer is looked at. It may hold the provider.
    init(_ provider: Provider, _ input: Provider.Input, keepsAnswer: Bool = false, clock: any Clock<Duration>) {
        let calling = provider as? any CallbackDataProvider<Provider.Input, Provider.Output>
        callsBack = calling != nil
        self.provider = calling == nil ? nil : provider
        state = Watched(State(callsBack: callsBack))
        guard let calling else {
            isStream = AnyDataProvider(provider).deliversMany
            start(provider, input, keepsAnswer, clock)
            return
        }
        isStream = false
        let stop = Self.call(calling, input, keepsAnswer, state)
        state.change { state in
            state.hasBegun = true
            // Let go with the first answer: it may hold the completion.
            if !state.hasAnswered { state.stop = stop }
        }
    }

    /// Starts on the spot where the platform can: then a request that doesn't suspend has ended when this returns, and
    /// no cancel can meet it.
    private func start(
        _ provider: Provider, _ input: Provider.Input, _ keepsAnswer: Bool, _ clock: any Clock<Duration>
    ) {
        let state = state
        let task = LibraryTask.startAtOnce(clock: clock, isolation: nil) { isolation in
            state.change { $0.hasBegun = true }
            do {
                var values = ProviderValues(of: provider, for: input).makeAsyncIterator()
                while let value = try await values.next(isolation: isolation) {
                    let count = state.change { state in
                        if keepsAnswer && state.values == 0 { state.answer = value }
                        state.values += 1
                        // Asked here: whoever cancels says so a moment before the task knows.
                        if Task.isCancelled { state.valuesAfterCancel += 1 }
                        return state.values
                    }
                    // A stream may have values for ever, and suspend for none of them.
                    if count.isMultiple(of: 100) { await LibraryTask.yield() }
                }
            } catch {
                state.change { $0.error = error }
            }
            state.change { $0.isOver = true }
        }
        state.change { state in
            state.task = task
            state.stop = { task.cancel() }
        }
    }

    /// Holds nothing of the completion when this returns.
    private static func call(
        _ provider: any CallbackDataProvider<Provider.Input, Provider.Output>, _ input: Provider.Input,
        _ keepsAnswer: Bool, _ state: Watched<State>
    ) -> CancelHandler? {
        let canary = Canary { state.change { $0.isOver = true } }
        return provider.request(input) { result in
            withExtendedLifetime(canary) {
                // Taken out first: it is to be let go outside of the lock.
                _ = state.change { state -> CancelHandler? in
                    state.callbacks += 1
                    switch result {
                    case .success(let value):
                        if keepsAnswer && state.callbacks == 1 { state.answer = value }
                        state.values += 1
                        if state.isCancelled { state.valuesAfterCancel += 1 }
                    // The first callback is the end.
                    case .failure(let error): if state.callbacks == 1 { state.error = error }
                    }
                    defer { state.stop = nil }
                    return state.stop
                }
            }
        }
    }

    // MARK: What came

    /// Whether the end has come: for a callback provider its first callback, or that it can't call any more.
    var hasEnded: Bool { state.value.hasEnded }

    var callbacks: Int { state.value.callbacks }

    /// The first value, if it is kept.
    var answer: Provider.Output? { state.value.answer }

    /// What has become of it that is no answer. Nil also if it was cancelled: then nothing else is expected of it than
    /// that it ends.
    var fate: ContractFate? {
        let state = state.value
        guard !state.isCancelled else { return state.hasEnded ? nil : .open }
        guard state.hasAnswered else { return .open }
        // What was turned away, or superseded, is answered with that.
        if state.endedAsCancelled { return .cancelled }
        if state.isUnanswered { return .unanswered }
        if state.callbacks > 1 { return .repeated }
        return state.error == nil ? nil : .failed
    }

    /// Whether it ended as if somebody had cancelled it.
    var endedAsCancelled: Bool { state.value.endedAsCancelled }

    /// Whether it ended by itself with neither a value nor an error, or can't call back any more and never has.
    var isUnanswered: Bool { state.value.isUnanswered }

    /// Whether it is a stream that has ended by itself, in whatever way.
    var hasEndedStream: Bool {
        let state = state.value
        return isStream && state.isOver && !state.isCancelled
    }

    var values: Int { state.value.values }

    var valuesAfterCancel: Int { state.value.valuesAfterCancel }

    /// Whether a value that came after the cancel is an answer. One of a stream may have been on its way, and is none
    /// if an error comes after it.
    var hasAnsweredAfterCancel: Bool {
        valuesAfterCancel > (isStream && state.value.error != nil ? 1 : 0)
    }

    /// Cancels the request. False if it has ended, or can't be cancelled.
    @discardableResult
    func cancel() -> Bool {
        // Taken out: it may hold the completion, and is to be let go when it has been called.
        let stop = state.change { state -> CancelHandler? in
            guard !state.hasEnded else { return nil }
            state.isCancelled = true
            defer { state.stop = nil }
            return state.stop
        }
        stop?()
        return stop != nil
    }

    // MARK: Waiting

    func begun() async throws { try await state.wait { $0.hasBegun } }
    func answered() async throws { try await state.wait(until: \.hasAnswered) }
    func over() async throws { try await state.wait { $0.isOver } }
    func hasMore(than count: Int) async throws { try await state.wait { $0.values > count || $0.isOver } }

    func ended() async throws { try await state.wait(until: \.hasEnded) }

    /// Waits until the task of a request that has ended has let everything go.
    func finish() async {
        await state.value.task?.value
    }
}
