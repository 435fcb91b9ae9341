/// What a run asks, in one attempt. An object, so that to hand it on costs a retain.
@usableFromInline
protocol Inquiry: AnyObject, Sendable {
    /// Whether more than one value may come.
    var isStream: Bool { get }

    func request() async throws -> any Sendable
    func request(reporter: IntegrationProgress.Reporter) async throws -> any Sendable
    func values() -> ProviderValues<any Sendable>

    /// Gives up the share in a request that others use as well.
    func leave()
}

/// What a call asks. The types of its input and output are left behind here, so that all runs of all integrators are
/// the same code, and none of it is generic. Runs hold this, and it does not hold the integrator.
@usableFromInline
protocol CallSource: AnyObject, Sendable {
    var engine: IntegratorCore { get }

    /// The key under which a call is admitted. Asked once a call.
    func lane() -> LaneKey?

    /// Makes the inquiry of one attempt.
    func inquire(at gate: LaneScheduler) -> any Inquiry
}

/// What the calls of an integrator share.
@usableFromInline
final class Supply<Input: Sendable, Output: Sendable>: Sendable {
    @usableFromInline let engine: IntegratorCore
    let provider: any DataProvider<Input, Output>
    /// The provider, if it is a stream. Kept, for it takes the runtime longer to find out than a call otherwise takes.
    let stream: (any StreamDataProvider<Input, Output>)?
    let lane: (@Sendable (Input) -> any Hashable & Sendable)?
    /// The requests that calls share, if they do.
    let flights: Flights<LaneKey?, Input, Output>?

    var isStream: Bool { stream != nil }

    init(
        _ provider: any DataProvider<Input, Output>, engine: IntegratorCore,
        lane: (@Sendable (Input) -> any Hashable & Sendable)?
    ) {
        self.engine = engine
        self.provider = provider
        self.lane = lane
        stream = provider.stream
        flights = engine.sharesRequests ? Flights(provider: provider, closesAtLanding: false) : nil
    }
}

/// The provider of an integrator together with an input. An inquiry as well, where requests are not shared: it
/// remembers nothing of an attempt.
@usableFromInline
final class PreparedInput<Input: Sendable, Output: Sendable>: CallSource, Inquiry {
    @usableFromInline let supply: Supply<Input, Output>
    @usableFromInline let input: Input

    @inlinable
    init(supply: Supply<Input, Output>, input: Input) {
        self.supply = supply
        self.input = input
    }

    @usableFromInline var engine: IntegratorCore { supply.engine }

    @usableFromInline
    func lane() -> LaneKey? {
        supply.lane.map { LaneKey(base: $0(input)) }
    }

    @usableFromInline
    func inquire(at gate: LaneScheduler) -> any Inquiry {
        guard let flights = supply.flights else { return self }
        return SharedInquiry(seat: flights.join(gate.lane, input), input: input, isStream: supply.isStream)
    }

    @usableFromInline var isStream: Bool { supply.isStream }

    // Inlined into the witness, through which alone it is called: one async frame less.
    @usableFromInline @inline(__always)
    func request() async throws -> any Sendable {
        try await supply.provider.request(input)
    }

    @usableFromInline
    func request(reporter: IntegrationProgress.Reporter) async throws -> any Sendable {
        try await supply.provider._request(input, reporter: reporter)
    }

    @usableFromInline
    func values() -> ProviderValues<any Sendable> {
        guard let stream = supply.stream else { return ProviderValues(of: supply.provider, for: input).erased() }
        return ProviderValues(streaming: stream, for: input).erased()
    }

    @usableFromInline
    func leave() {}
}

/// A seat in a request that calls share.
private final class SharedInquiry<Input: Sendable, Output: Sendable>: Inquiry {
    private let seat: Seat<Input, Output>
    private let input: Input
    let isStream: Bool

    init(seat: Seat<Input, Output>, input: Input, isStream: Bool) {
        self.seat = seat
        self.input = input
        self.isStream = isStream
    }

    func request() async throws -> any Sendable {
        try await seat._request(input, reporter: nil)
    }

    func request(reporter: IntegrationProgress.Reporter) async throws -> any Sendable {
        try await seat._request(input, reporter: reporter)
    }

    func values() -> ProviderValues<any Sendable> {
        ProviderValues(of: seat, for: input).erased()
    }

    func leave() {
        seat.leave()
    }
}
