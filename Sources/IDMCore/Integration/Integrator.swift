/// Runs a provider under one executing type and delivers the result of each call to its handlers.
///
/// ```swift
/// let users = Integrator(UserDataProvider(), model: Users.self, executing: .latest)
///
/// users.prepareCall("apple")
///     .onSuccess { users in list.show(users) }
///     .onError { error in banner.show(error) }
///     .call()
///
/// let found = try await users.request("apple")
/// ```
///
/// Each call ends exactly once, and its handlers run in a fixed order; see <doc:TheCallContract>. An integrator can be
/// used from any actor or thread. It is a data provider itself, so integrators compose like other providers.
///
/// A started call runs to its end even if the integrator is released. To cancel running calls when the last reference to
/// the integrator goes away, create it with `cancelsWhenReleased: true`.
public final class Integrator<Input: Sendable, Output: Sendable>: DataProvider {
    @usableFromInline let base: IntegratorProvider<Input, Output>
    private let cancelsWhenReleased: Bool

    var core: IntegratorCore { base.core }

    /// Creates an integrator that returns the provider's output.
    ///
    /// If the provider is a ``StreamDataProvider``, handlers receive each of its values.
    ///
    /// - Parameters:
    ///   - provider: The provider that fetches the data.
    ///   - type: How concurrent calls affect each other.
    ///   - cancelsWhenReleased: Pass true to cancel calls with ``CancelReason/released`` when nothing holds the
    ///     integrator any more. Prepared calls and the tasks of started calls hold it.
    ///   - lane: Maps an input to a lane key. The executing type applies within each lane. Called once per call, inside
    ///     `call()`. Pass nil to use one lane for all calls.
    ///   - clock: The clock that measures debounce intervals and retry delays.
    public init(
        _ provider: some DataProvider<Input, Output>, executing type: ExecutingType = .default,
        cancelsWhenReleased: Bool = false, lane: (@Sendable (Input) -> any Hashable & Sendable)? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        base = IntegratorProvider(
            provider, core: IntegratorCore(type: type, isKeyed: lane != nil, clock: clock), lane: lane)
        self.cancelsWhenReleased = cancelsWhenReleased
    }

    /// Creates an integrator that returns a model made from the provider's output.
    ///
    /// If the model's initializer fails, the call fails with ``IntegrationError/model(_:)``.
    ///
    /// - Parameters:
    ///   - provider: The provider that fetches the data.
    ///   - model: The type of the model.
    ///   - type: How concurrent calls affect each other.
    ///   - parsing: Where the model is made.
    ///   - cancelsWhenReleased: Pass true to cancel calls with ``CancelReason/released`` when nothing holds the
    ///     integrator any more. Prepared calls and the tasks of started calls hold it.
    ///   - lane: Maps an input to a lane key. The executing type applies within each lane. Called once per call, inside
    ///     `call()`. Pass nil to use one lane for all calls.
    ///   - clock: The clock that measures debounce intervals and retry delays.
    public convenience init<Provider: DataProvider>(
        _ provider: Provider, model: Output.Type, executing type: ExecutingType = .default,
        parsing: ModelParsing = .concurrent, cancelsWhenReleased: Bool = false,
        lane: (@Sendable (Input) -> any Hashable & Sendable)? = nil, clock: any Clock<Duration> = ContinuousClock()
    ) where Provider.Input == Input, Output: DataModel, Output.Source == Provider.Output {
        self.init(
            provider.model(model, parsing: parsing), executing: type, cancelsWhenReleased: cancelsWhenReleased,
            lane: lane, clock: clock)
    }

    deinit {
        if cancelsWhenReleased { core.release() }
    }

    /// Creates a call that starts when ``IntegrationCall/call(isolation:)`` is called on it.
    @inlinable
    public func prepareCall(_ input: Input) -> IntegrationCall<Output> {
        IntegrationCall(PreparedInput(base, input: input), holding: self)
    }

    /// Creates a call of an integrator that needs no input.
    public func prepareCall() -> IntegrationCall<Output> where Input == Void {
        prepareCall(())
    }

    /// Starts a call and returns its value; for a stream, its last value.
    ///
    /// - Throws: `CancellationError` if the awaiting task is cancelled, which also cancels the call;
    ///   ``IntegrationError/cancelled(_:)`` if the call is cancelled in any other way; otherwise the provider's error.
    public func request(_ input: Input) async throws -> Output {
        try Task.checkCancellation()
        let execution = core.start(PreparedInput(base, input: input), isolation: #isolation)
        let outcome = try await execution.waitForOutcome { execution.cancel(isolation: nil) }
        return try outcome.get(as: Output.self)
    }

    /// Starts a call and delivers its result to one completion handler.
    ///
    /// ```swift
    /// users.fetch("apple") { result in
    ///     switch result {
    ///     case .success(let users): list.show(users)
    ///     case .failure(let error): banner.show(error)
    ///     }
    /// }
    /// ```
    ///
    /// The handler runs exactly once for each call, in a later turn, on the actor on which it was written. A cancelled call
    /// delivers ``IntegrationError/cancelled(_:)``, a stream its last value.
    ///
    /// - Parameters:
    ///   - input: The input of the call.
    ///   - isolation: The caller's actor. Use the default.
    ///   - completion: Receives the value or the error.
    /// - Returns: The task of the call, to await or cancel it. The call continues if the task is discarded.
    @discardableResult
    public func fetch(
        _ input: Input, isolation: isolated (any Actor)? = #isolation,
        @_inheritActorContext(always) completion:
            @escaping @isolated(any) @Sendable (Result<Output, any Error>) -> Void
    ) -> IntegrationTask<Output> {
        let task = prepareCall(input).call(isolation: isolation)
        LibraryTask.startLater { _ in
            let outcome = await task.outcome
            await completion(Result { try outcome.get() })
        }
        return task
    }

    /// Cancels all running and waiting calls with ``CancelReason/cancelled``.
    ///
    /// If called on the handlers' actor, no value or progress of these calls is delivered after this method returns.
    /// Calls that are made by a handler of a cancelled call are not affected.
    public func cancel(isolation: isolated (any Actor)? = #isolation) {
        core.cancelAll(isolation: isolation)
    }

    /// The structure of the provider, with the executing type around it.
    public var structure: ProviderStructure {
        .wrapping(base.provider.structure, in: "integrator, \(core.type)")
    }

    /// The number of calls that wait in line, for a debounce interval or for another call.
    package var waitingCount: Int { core.waitingCount }
}
