/// One attempt to get a call's answer from the provider: a request of its own, or a share in a request of several calls.
@usableFromInline
protocol ProviderAttempt: Sendable {
    /// True if more than one value may come.
    var isStream: Bool { get }

    func request() async throws -> any Sendable
    func values() -> ProviderValues<any Sendable>
}

/// A provider with an input. The types of both are erased here, so that executions of all calls share their code.
///
/// Executions hold a source; a source doesn't hold the integrator.
@usableFromInline
protocol CallSource: ProviderAttempt {
    var core: IntegratorCore { get }

    /// The lane of the call. Called once per call.
    func laneKey() -> LaneKey?

    /// Joins the running request of a lane, or starts one with the first `request()`. Nil if calls don't share requests:
    /// the source is the attempt.
    func joinRequest(of lane: LaneKey?) -> (any SharedAttempt)?
}

/// A share in a request that other calls use as well.
@usableFromInline
protocol SharedAttempt: AnyObject, ProviderAttempt {
    /// Ends the share.
    func leave()
}

/// The provider of an integrator, and the part of its configuration that depends on the provider's types.
@usableFromInline
final class IntegratorProvider<Input: Sendable, Output: Sendable>: Sendable {
    @usableFromInline let core: IntegratorCore
    let provider: any DataProvider<Input, Output>
    /// The provider as a stream, if it is one. Stored: the cast takes longer than the rest of a call.
    let stream: (any StreamDataProvider<Input, Output>)?
    let lane: (@Sendable (Input) -> any Hashable & Sendable)?
    /// The shared requests of `.only(joining: true)`.
    let sharedRequests: SharedRequests<Input, Output>?

    init(
        _ provider: any DataProvider<Input, Output>, core: IntegratorCore,
        lane: (@Sendable (Input) -> any Hashable & Sendable)?
    ) {
        self.core = core
        self.provider = provider
        self.lane = lane
        stream = provider.stream
        sharedRequests = core.type.isJoining ? SharedRequests(provider: provider, closesWhenFinished: false) : nil
    }
}

/// The provider of an integrator with the input of one call. A struct: with a small input, a call's source is stored inline
/// in the object of the call.
@usableFromInline
struct PreparedInput<Input: Sendable, Output: Sendable>: CallSource {
    @usableFromInline let base: IntegratorProvider<Input, Output>
    @usableFromInline let input: Input

    @inlinable
    init(_ base: IntegratorProvider<Input, Output>, input: Input) {
        self.base = base
        self.input = input
    }

    @usableFromInline var core: IntegratorCore { base.core }

    @usableFromInline var isStream: Bool { base.stream != nil }

    @usableFromInline
    func laneKey() -> LaneKey? {
        base.lane.map { LaneKey(base: $0(input)) }
    }

    @usableFromInline
    func joinRequest(of lane: LaneKey?) -> (any SharedAttempt)? {
        guard let requests = base.sharedRequests else { return nil }
        return JoinedRequest(requests.join(lane, input), input: input, isStream: isStream)
    }

    // Inlined into its only caller, the witness: one async frame less.
    @usableFromInline @inline(__always)
    func request() async throws -> any Sendable {
        try await base.provider.request(input)
    }

    @usableFromInline
    func values() -> ProviderValues<any Sendable> {
        guard let stream = base.stream else { return ProviderValues(of: base.provider, for: input).transformed { $0 } }
        return ProviderValues(streaming: stream, for: input).transformed { $0 }
    }
}

/// One call's share in the request of `.only(joining: true)`.
private final class JoinedRequest<Input: Sendable, Output: Sendable>: SharedAttempt {
    private let subscription: Subscription<Input, Output>
    private let input: Input
    let isStream: Bool

    init(_ subscription: Subscription<Input, Output>, input: Input, isStream: Bool) {
        self.subscription = subscription
        self.input = input
        self.isStream = isStream
    }

    func request() async throws -> any Sendable {
        try await subscription.request(input)
    }

    func values() -> ProviderValues<any Sendable> {
        ProviderValues(of: subscription, for: input).transformed { $0 }
    }

    func leave() {
        subscription.leave()
    }
}
