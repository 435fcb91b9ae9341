/// A provider whose equal requests share one run. Made by ``DataProvider/coalesced(by:)``. Copies share too.
public struct CoalesceDataProvider<Base: DataProvider, Key: Hashable & Sendable>: DataProvider {
    private let requests: SharedRequests<Base.Input, Base.Output>
    private let key: @Sendable (Base.Input) -> Key

    init(_ base: Base, by key: @escaping @Sendable (Base.Input) -> Key) {
        requests = SharedRequests(provider: base, closesWhenFinished: true)
        self.key = key
    }

    public func request(_ input: Base.Input) async throws -> Base.Output {
        try Task.checkCancellation()
        let subscription = requests.join(key(input), input)
        defer { subscription.leave() }
        return try await subscription.request(input)
    }

    public var structure: ProviderStructure { .wrapping(requests.provider.structure, in: "coalesced") }
}

extension DataProvider {
    /// Returns a provider that makes one request for all callers with the same key while it runs.
    ///
    /// All callers that share get the same answer or the same error. The request is made with the input of the first
    /// one, on its actor. Nothing is cached: a call after the answer starts a new request. Keep the returned provider,
    /// because each call of this method returns one that shares with no other.
    ///
    /// Cancelling one caller ends that one at once and no other. Cancelling the last one cancels the request. Progress
    /// goes to all callers. The request gets the priority of the most urgent caller, where the platform can escalate.
    ///
    /// A base that makes a request of this provider for its own key never ends, because it waits for itself.
    ///
    /// The result is not a stream: of a provider that delivers many values it answers with the last.
    public func coalesced<Key: Hashable & Sendable>(
        by key: @escaping @Sendable (Input) -> Key
    ) -> CoalesceDataProvider<Self, Key> {
        CoalesceDataProvider(self, by: key)
    }

    /// Returns a provider that makes one request for all callers with equal inputs. See ``coalesced(by:)``.
    public func coalesced() -> CoalesceDataProvider<Self, Input> where Input: Hashable {
        CoalesceDataProvider(self) { $0 }
    }
}
