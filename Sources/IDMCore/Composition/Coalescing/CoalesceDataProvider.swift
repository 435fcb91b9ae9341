/// A provider whose equal requests share one. Made by ``DataProvider/coalesced(by:)``.
public struct CoalesceDataProvider<Base: DataProvider, Key: Hashable & Sendable>: DataProvider {
    private let requests: SharedRequests<Key, Base.Input, Base.Output>
    private let key: @Sendable (Base.Input) -> Key

    /// Makes a provider whose requests with the same key share one request of the base. Copies share as well.
    public init(_ base: Base, by key: @escaping @Sendable (Base.Input) -> Key) {
        requests = SharedRequests(provider: base, closesWhenFinished: true)
        self.key = key
    }

    /// Joins the request that is in request for the same key, or makes one.
    public func request(_ input: Base.Input) async throws -> Base.Output {
        try Task.checkCancellation()
        let subscription = requests.join(key(input), input)
        defer { subscription.leave() }
        return try await subscription.request(input)
    }

    /// The base, whose requests are shared.
    public var structure: ProviderStructure { .wrapping(requests.provider.structure, in: "coalesced") }
}

extension DataProvider {
    /// This provider with requests for the same key made once for all who ask while one is in request.
    ///
    /// Every request that shares gets the same answer or the same error. The request is made with the input of the
    /// first, on the first one's actor. Nothing is kept: a request that comes after the answer makes a new one. The
    /// result is to be kept and shared, since each call of this method makes a provider that shares with no other.
    ///
    /// Cancelling one of those who share ends that one at once and no other; when the last of them is cancelled, so is
    /// the request. Progress reaches everybody who shares. The request becomes as urgent as the most urgent who joins,
    /// where the platform can.
    ///
    /// A base that asks this provider for its own key waits for its own answer, for ever.
    ///
    /// Not a stream: of a provider that delivers many values everybody gets the last.
    public func coalesced<Key: Hashable & Sendable>(
        by key: @escaping @Sendable (Input) -> Key
    ) -> CoalesceDataProvider<Self, Key> {
        CoalesceDataProvider(self, by: key)
    }

    /// This provider with equal requests made once for all who ask while one is in request. See ``coalesced(by:)``.
    public func coalesced() -> CoalesceDataProvider<Self, Input> where Input: Hashable {
        CoalesceDataProvider(self) { $0 }
    }
}
