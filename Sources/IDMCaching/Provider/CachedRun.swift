/// What a read of the cache has found.
enum CacheFinding<Value> {
    case fresh(Value)
    case stale(Value)
    /// In a race: while the cache was read, somebody has been answered. If the provider fails, the cache is read anew.
    case overtaken
    case nothing
}

extension CacheFinding: Sendable where Value: Sendable {}

/// One request to a cached provider: the policies, without the doing.
///
/// Whoever drives it asks for the ``step()``, does it, and says what came of it. A value is told at most twice: what
/// the cache had, and then what the provider answered, never the other way round.
struct CachedRun<Value> {
    enum Step {
        /// Read the cache, and then say ``CachedRun/found(_:)``.
        case look
        /// Ask the provider, and then say ``CachedRun/answered(_:)`` or ``CachedRun/failed(_:isCancel:)``.
        case ask
        /// Start both, side by side.
        case lookAndAsk
        /// Wait for what was started.
        case wait
        /// Hear a value.
        case tell(Value, isCached: Bool)
        case fail(any Error)
        case end
    }

    private enum Phase {
        case ready
        case looking
        case asking
        /// Both are under way.
        case racing
        /// The provider is still at work, and the cache was read.
        case outrun(isOvertaken: Bool)
        /// The provider has failed; the cache is still to come.
        case failing(any Error)
        /// The provider has failed, and the cache is asked in its place.
        case substituting(any Error)
        case telling(Value, isCached: Bool, then: Sequel)
        case over((any Error)?)
    }

    /// What comes after a value.
    private enum Sequel {
        case ask
        case wait
        case end
        case fail(any Error)
    }

    private let policy: CachePolicy.Kind
    /// Whether the cache and the provider may be at work at the same time.
    private let mayRace: Bool
    private var phase = Phase.ready

    init(_ policy: CachePolicy, mayRace: Bool) {
        self.policy = policy.kind
        self.mayRace = mayRace
    }

    /// What is to be done now.
    mutating func step() -> Step {
        switch phase {
        case .ready: return begin()
        case .looking, .substituting: return .look
        case .asking: return .ask
        case .racing, .outrun, .failing: return .wait
        case .telling(let value, let isCached, let sequel):
            switch sequel {
            case .ask: phase = .asking
            case .wait: phase = .outrun(isOvertaken: false)
            case .end: phase = .over(nil)
            case .fail(let error): phase = .over(error)
            }
            return .tell(value, isCached: isCached)
        case .over(let error?):
            phase = .over(nil)
            return .fail(error)
        case .over(nil):
            return .end
        }
    }

    private mutating func begin() -> Step {
        switch policy {
        case .cachedThenRemote where mayRace:
            phase = .racing
            return .lookAndAsk
        case .cachedThenRemote, .cacheElseRemote, .staleWhileRevalidate, .cacheOnly:
            phase = .looking
            return .look
        case .remoteElseCache, .remoteOnly, .refresh:
            phase = .asking
            return .ask
        }
    }

    /// Everything was heard.
    mutating func finish() {
        phase = .over(nil)
    }

    /// The cache was read.
    mutating func found(_ finding: CacheFinding<Value>) {
        switch phase {
        case .looking: phase = afterLooking(finding)
        case .racing:
            switch finding {
            case .fresh(let value), .stale(let value): phase = .telling(value, isCached: true, then: .wait)
            case .overtaken: phase = .outrun(isOvertaken: true)
            case .nothing: phase = .outrun(isOvertaken: false)
            }
        case .failing(let error), .substituting(let error):
            switch finding {
            case .fresh(let value), .stale(let value):
                phase = .telling(value, isCached: true, then: policy == .remoteElseCache ? .end : .fail(error))
            case .overtaken: phase = .substituting(error)
            case .nothing: phase = .over(error)
            }
        // Slower than the provider: what it found is older than what was heard.
        case .ready, .asking, .outrun, .telling, .over: break
        }
    }

    private func afterLooking(_ finding: CacheFinding<Value>) -> Phase {
        switch (policy, finding) {
        case (.cacheOnly, .nothing): .over(CachingError.noEntry)
        case (.cachedThenRemote, .fresh(let value)), (.cachedThenRemote, .stale(let value)),
            (.staleWhileRevalidate, .stale(let value)):
            .telling(value, isCached: true, then: .ask)
        case (_, .fresh(let value)), (.cacheOnly, .stale(let value)):
            .telling(value, isCached: true, then: .end)
        case (_, .stale), (_, .overtaken), (_, .nothing): .asking
        }
    }

    /// The provider has answered.
    mutating func answered(_ value: Value) {
        switch phase {
        case .asking, .racing, .outrun: phase = .telling(value, isCached: false, then: .end)
        case .ready, .looking, .failing, .substituting, .telling, .over: break
        }
    }

    /// The provider has failed.
    mutating func failed(_ error: any Error, isCancel: Bool) {
        switch phase {
        case .asking where policy == .remoteElseCache && !isCancel: phase = .substituting(error)
        case .racing where !isCancel: phase = .failing(error)
        case .outrun(isOvertaken: true) where !isCancel: phase = .substituting(error)
        case .asking, .racing, .outrun: phase = .over(error)
        // Nobody waits for the entry any more.
        case .looking where isCancel, .failing where isCancel, .substituting where isCancel: phase = .over(error)
        case .ready, .looking, .failing, .substituting, .telling, .over: break
        }
    }
}
