/// Runs a provider, and a model made from what it fetched, under one executing type, and tells the caller what
/// happened.
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
/// Every call ends exactly once, and its handlers run in one fixed order; see <doc:TheCallContract>. An integrator is
/// good on any actor and thread. It is itself a provider of its models, so it composes like any other.
///
/// Calls and their tasks hold the integrator, runs do not: when nothing holds it any more, what still runs is cancelled
/// with ``CancelReason/released``. So store it, or keep the task of a call: an integrator in a local variable goes
/// after its last use.
public final class Integrator<Input: Sendable, Output: Sendable>: DataProvider {
    @usableFromInline let supply: Supply<Input, Output>

    var engine: IntegratorCore { supply.engine }

    /// Makes an integrator whose output is the provider's.
    ///
    /// A provider that is a ``StreamDataProvider``, also one hidden in `some DataProvider`, is heard value by value.
    ///
    /// - Parameters:
    ///   - provider: Fetches the data.
    ///   - type: How calls run beside each other.
    ///   - lane: Applies the executing type to the calls of each key by itself, instead of to all. Called once a call,
    ///     in `call()`.
    ///   - clock: Measures the debounce and the delays before retries.
    public init(
        _ provider: some DataProvider<Input, Output>, executing type: ExecutingType = .default,
        lane: (@Sendable (Input) -> any Hashable & Sendable)? = nil, clock: any Clock<Duration> = ContinuousClock()
    ) {
        supply = Supply(provider, engine: IntegratorCore(type: type, isKeyed: lane != nil, clock: clock), lane: lane)
    }

    /// Makes an integrator whose output is a model made from the provider's output.
    ///
    /// A model that can't be made fails the call with ``IntegrationError/model(_:)``.
    ///
    /// - Parameters:
    ///   - provider: Fetches the data.
    ///   - model: The type of the model.
    ///   - type: How calls run beside each other.
    ///   - parsing: Where the model is made.
    ///   - lane: Applies the executing type to the calls of each key by itself, instead of to all. Called once a call,
    ///     in `call()`.
    ///   - clock: Measures the debounce and the delays before retries.
    public convenience init<Provider: DataProvider>(
        _ provider: Provider, model: Output.Type, executing type: ExecutingType = .default,
        parsing: ModelParsing = .concurrent, lane: (@Sendable (Input) -> any Hashable & Sendable)? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) where Provider.Input == Input, Output: DataModel, Output.Source == Provider.Output {
        self.init(provider.model(model, parsing: parsing), executing: type, lane: lane, clock: clock)
    }

    deinit {
        engine.release()
    }

    /// Prepares a call. Nothing happens before ``IntegrationCall/call(isolation:)``.
    @inlinable
    public func prepareCall(_ input: Input) -> IntegrationCall<Output> {
        IntegrationCall(PreparedInput(supply: supply, input: input), holding: self)
    }

    /// Prepares a call of an integrator that needs no input.
    public func prepareCall() -> IntegrationCall<Output> where Input == Void {
        prepareCall(())
    }

    /// Calls and waits for the value, for a stream the last one, under the same rules as any other call.
    ///
    /// Throws `CancellationError` if and only if the awaiting task was cancelled, which cancels the call as well, and
    /// ``IntegrationError/cancelled(_:)`` if the call was cancelled otherwise.
    public func request(_ input: Input) async throws -> Output {
        try Task.checkCancellation()
        let source = PreparedInput(supply: supply, input: input)
        let handle = engine.call(source, CallConfiguration(), isolation: #isolation)
        let outcome = try await handle.life.waitForOutcome { handle.cancel(isolation: nil) }
        return try outcome.get(as: Output.self)
    }

    /// Cancels all calls, those that wait among them. Each hears ``CancelReason/cancelled``.
    ///
    /// Once this returns on the actor of the handlers, no value and no progress of these calls is heard any more. Where
    /// it is called on an actor, and not from a handler, the handlers there may have heard of it by then.
    public func cancel(isolation: isolated (any Actor)? = #isolation) {
        engine.cancelAll(isolation: isolation)
    }

    /// The provider, with the executing type around it.
    public var structure: ProviderStructure {
        .wrapping(supply.provider.structure, in: "integrator, \(engine.type)")
    }

    /// A call with everything that has been prepared for it elsewhere.
    func prepareCall(_ input: Input, _ plan: CallConfiguration) -> IntegrationCall<Output> {
        IntegrationCall(PreparedInput(supply: supply, input: input), holding: self, plan: plan)
    }

    /// How many calls wait: in line, for quiet, or for another call.
    package var waitingCount: Int { engine.waitingCount }
}
