public import IDMCore

/// A provider with a cache before it. Made by `cached(in:policy:tags:)`.
///
/// A stream: an entry is heard at once, and what the provider answers when it comes, as the ``CachePolicy`` says. An
/// entry of a ``MemoryCache`` is heard in the turn in which it was asked for. The stream ends when its own answer has
/// been written, or the one to a later question that takes its place, or once that has to wait for another process.
/// A write that fails is told to the store's hook, and fails nothing.
///
/// Copies share requests: equal keys that are on their way are asked for once, one caller's cancel never hurts another,
/// and the last one out cancels the request. So keep the provider, or the integrator around it. Of a base that is
/// a stream the last value counts.
///
/// Answers are heard in the order of their questions: who still waits for an answer when one to a later question has
/// come hears that one instead.
public struct CachedDataProvider<Base: DataProvider, Store: CacheStore>: StreamDataProvider
where Store.Value == Base.Output {
    /// Where entries are kept.
    public let store: Store
    /// What is done with what the cache holds.
    public let policy: CachePolicy

    @usableFromInline let key: @Sendable (Base.Input) -> Store.Key
    private let base: Base
    private let upstream:
        CoalesceDataProvider<Upstream<Base, Store>, Question<Base.Input, Store.Key, Store.Value>.Flight>

    /// Puts a cache before a provider.
    ///
    /// - Parameters:
    ///   - base: Answers what the cache doesn't.
    ///   - store: Where entries are kept.
    ///   - policy: What is done with what the cache holds.
    ///   - key: What the entry of an input is found by. Called once a request.
    ///   - tags: Names under which an answer can be invalidated, besides its key.
    public init(
        _ base: Base, in store: Store, policy: CachePolicy, key: @escaping @Sendable (Base.Input) -> Store.Key,
        tags: (@Sendable (Base.Input, Base.Output) -> Set<String>)? = nil
    ) {
        self.store = store
        self.policy = policy
        self.key = key
        self.base = base
        upstream = Upstream(base: base, store: store, tags: tags).coalesced { $0.flight }
    }

    private init(_ other: Self, policy: CachePolicy) {
        store = other.store
        key = other.key
        base = other.base
        upstream = other.upstream
        self.policy = policy
    }

    /// What the cache has, and what the provider answers.
    public func values(for input: Base.Input) -> CachedValues<Base, Store> {
        CachedValues(provider: self, input: input, key: key(input))
    }

    /// The last of the values. An entry that is there at once, and is the only one, takes hardly longer than the look.
    @inlinable
    public func request(_ input: Base.Input) async throws -> Base.Output {
        try Task.checkCancellation()
        let key = key(input)
        if let hit = await hit(key) {
            // The hook, or whoever made the key, may have cancelled it.
            try Task.checkCancellation()
            return hit.value
        }
        return try await last(input, key)
    }

    @usableFromInline
    func last(_ input: Base.Input, _ key: Store.Key) async throws -> Base.Output {
        try await CachedValues(provider: self, input: input, key: key, hasMissed: true).lastValue()
    }

    /// The same provider and the same store under another policy. Requests are shared with this one.
    public func policy(_ policy: CachePolicy) -> Self {
        Self(self, policy: policy)
    }

    /// This provider with every request answered anew, for a pull to refresh. The cache isn't read, and a request
    /// that is on its way already isn't shared; whoever waits for that one hears the new answer, should it come first.
    public var refreshing: Self {
        policy(.refresh)
    }

    /// The cache and the provider, each with when it is asked.
    public var structure: ProviderStructure {
        let cache = ProviderStructure.provider("\(Store.self)")
        let parts: KeyValuePairs<String, ProviderStructure> =
            switch policy.kind {
            case .cachedThenRemote: ["first": cache, "then": base.structure]
            case .cacheElseRemote(let age): ["if at most \(age) old": cache, "else": base.structure]
            case .staleWhileRevalidate(let age): ["first": cache, "if more than \(age) old": base.structure]
            case .remoteElseCache: ["first": base.structure, "if it fails": cache]
            case .cacheOnly: ["always": cache, "never": base.structure]
            case .remoteOnly, .refresh: ["only written": cache, "always": base.structure]
            }
        return .branches("cached, \(policy)", parts)
    }

    /// True if the policy may deliver an entry and then an answer, or if the store takes time to write: an answer is
    /// delivered before it is written, and a plain request would end afterwards. Otherwise an integrator makes a plain
    /// request, in half of the time (benchmark row "request of an integrator, memory hit").
    public var deliversMany: Bool {
        guard store.answersAtOnce else { return true }
        return switch policy.kind {
        case .cachedThenRemote, .staleWhileRevalidate: true
        case .cacheElseRemote, .remoteElseCache, .cacheOnly, .remoteOnly, .refresh: false
        }
    }

    /// Asks the provider, or shares what is on its way.
    func ask(_ visit: Visit<Base.Input, Store.Key, Store.Value>) async throws -> Upstream<Base, Store>.Output {
        let isRefresh = policy == .refresh
        var answer = try await upstream.request(visit.question(refreshing: isRefresh))
        // Somebody who had begun before may have opened the flight that a refresh has joined, and have found an older
        // answer.
        while isRefresh, answer.number <= visit.begun {
            answer = try await upstream.request(visit.question(refreshing: true))
        }
        if !visit.hasAsked { store.ledger.report(.joined(visit.key)) }
        // A flight can be joined that was answered before something newer was heard.
        if let newer = store.ledger.newer(visit.key, than: answer.number) { answer.value = newer.value }
        return answer
    }
}

extension DataProvider {
    /// This provider with a cache before it, whose keys are the inputs.
    ///
    /// ```swift
    /// let users = SearchDataProvider().cached(in: memory)
    /// ```
    ///
    /// - Parameters:
    ///   - store: Where entries are kept.
    ///   - policy: What is done with what the cache holds. See ``CachePolicy``.
    ///   - tags: Names under which an answer can be invalidated, besides its key.
    public func cached<Store: CacheStore<Input, Output>>(
        in store: Store, policy: CachePolicy = .cachedThenRemote,
        tags: (@Sendable (Input, Output) -> Set<String>)? = nil
    ) -> CachedDataProvider<Self, Store> {
        CachedDataProvider(self, in: store, policy: policy, key: { $0 }, tags: tags)
    }

    /// This provider with a cache before it, whose keys are made from the inputs.
    ///
    /// - Parameters:
    ///   - store: Where entries are kept.
    ///   - policy: What is done with what the cache holds. See ``CachePolicy``.
    ///   - key: What the entry of an input is found by.
    ///   - tags: Names under which an answer can be invalidated, besides its key.
    public func cached<Key: Hashable & Sendable, Store: CacheStore<Key, Output>>(
        in store: Store, policy: CachePolicy = .cachedThenRemote, key: @escaping @Sendable (Input) -> Key,
        tags: (@Sendable (Input, Output) -> Set<String>)? = nil
    ) -> CachedDataProvider<Self, Store> {
        CachedDataProvider(self, in: store, policy: policy, key: key, tags: tags)
    }
}
