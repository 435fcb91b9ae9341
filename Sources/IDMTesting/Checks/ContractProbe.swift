import IDMCore

/// One request of a ``DataProviderContract`` check: with a callback if the provider calls back, or else in a task.
final class ContractProbe<Provider: DataProvider>: Sendable {
    private struct State {
        var hasBegun = false
        var values = 0
        var callbacks = 0
        /// The first value, and the first error.
        var answer: Provider.Output?
        var error: (any Error)?
        /// True if nothing can come any more.
        var isOver = false
        var isCancelled = false
        var hasValueAfterCancel = false
        var stop: CancelHandler?

        var hasAnswered: Bool { values > 0 || error != nil || isOver }
    }

    private let state = Observed(State())
    /// Held like the caller of a callback provider does. A task holds its own reference.
    private let provider: Provider?
    let isCallback: Bool
    let isStream: Bool

    /// Makes the request.
    ///
    /// - Parameter isCancelled: Whether the task of the request is cancelled before it begins.
    init(_ provider: Provider, _ input: Provider.Input, clock: any Clock<Duration>, cancelled isCancelled: Bool = false)
    {
        let callback = provider as? any CallbackDataProvider<Provider.Input, Provider.Output>
        isCallback = callback != nil
        isStream = callback == nil && AnyDataProvider(provider).deliversMany
        self.provider = callback == nil ? nil : provider
        if let callback {
            let stop = Self.call(callback, input, state)
            state.change { state in
                state.hasBegun = true
                if !state.hasAnswered { state.stop = stop }
            }
            if isCancelled { cancel() }
        } else {
            start(provider, input, clock, isCancelled)
        }
    }

    private func start(
        _ provider: Provider, _ input: Provider.Input, _ clock: any Clock<Duration>, _ isCancelled: Bool
    ) {
        let state = state
        if isCancelled { state.change { $0.isCancelled = true } }
        let task = LibraryTask.startAtOnce(clock: clock, isolation: nil) { isolation in
            if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
            state.change { $0.hasBegun = true }
            do {
                var values = ProviderValues(of: provider, for: input).makeAsyncIterator()
                while let value = try await values.next(isolation: isolation) {
                    let count = state.change { state in
                        if state.values == 0 { state.answer = value }
                        state.values += 1
                        if state.isCancelled { state.hasValueAfterCancel = true }
                        return state.values
                    }
                    // A stream may deliver values for ever, without suspending.
                    if count.isMultiple(of: 100) { await LibraryTask.yield() }
                }
            } catch {
                state.change { $0.error = error }
            }
            state.change { $0.isOver = true }
        }
        state.change { $0.stop = { task.cancel() } }
    }

    private static func call(
        _ provider: any CallbackDataProvider<Provider.Input, Provider.Output>, _ input: Provider.Input,
        _ state: Observed<State>
    ) -> CancelHandler? {
        let canary = DeinitObserver { state.change { $0.isOver = true } }
        return provider.request(input) { result in
            withExtendedLifetime(canary) {
                // The cancel handler is released outside of the lock.
                _ = state.change { state -> CancelHandler? in
                    state.callbacks += 1
                    switch result {
                    case .success(let value):
                        if state.callbacks == 1 { state.answer = value }
                        state.values += 1
                        if state.isCancelled { state.hasValueAfterCancel = true }
                    case .failure(let error): if state.callbacks == 1 { state.error = error }
                    }
                    return state.stop.take()
                }
            }
        }
    }

    // MARK: The outcome

    /// The first value.
    var answer: Provider.Output? { state.value.answer }
    var callbacks: Int { state.value.callbacks }
    /// A value of a stream may have been on its way.
    var hasValueAfterCancel: Bool { !isStream && state.value.hasValueAfterCancel }

    /// True if the request has ended. A callback request ends with its first callback.
    var hasEnded: Bool { Self.hasEnded(state.value, isCallback) }

    private static func hasEnded(_ state: State, _ isCallback: Bool) -> Bool {
        isCallback ? state.hasAnswered : state.isOver
    }

    /// The fault in the end of a request that wasn't cancelled, or nil.
    var fault: String? {
        let state = state.value
        if !state.hasAnswered { return "it did not end" }
        if state.callbacks > 1 { return "it called back \(state.callbacks) times" }
        if let error = state.error { return CancelReason(error) == .cancelled ? "it ended as cancelled" : nil }
        return state.values == 0 ? "it ended with neither a value nor an error" : nil
    }

    /// Cancels the request. Returns false if it has ended, or if it can't be cancelled.
    @discardableResult
    func cancel() -> Bool {
        let stop = state.change { [isCallback] state -> CancelHandler? in
            guard !Self.hasEnded(state, isCallback), state.stop != nil else { return nil }
            state.isCancelled = true
            return state.stop.take()
        }
        stop?()
        return stop != nil
    }

    // MARK: Waiting

    func waitUntilAnswered() async throws { try await state.wait { $0.hasAnswered } }
    func waitUntilOver() async throws { try await state.wait { $0.isOver } }
    func waitUntilEnded() async throws { try await state.wait { [isCallback] in Self.hasEnded($0, isCallback) } }
}
