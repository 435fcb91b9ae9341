/// What a request does with what the cache holds.
///
/// Each policy says when the cache is read, when the provider is asked, what happens when that fails, and what is
/// heard. Every answer of the provider is written to the cache, whatever the policy. A cancel ends the request under
/// each of them, and is never answered from the cache.
public struct CachePolicy: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case cachedThenRemote
        case cacheElseRemote(Duration)
        case staleWhileRevalidate(Duration)
        case remoteElseCache
        case cacheOnly
        case remoteOnly
        case refresh
    }

    let kind: Kind

    /// What is there, and then what is new.
    ///
    /// The entry is heard first, whatever its age, and then the answer. The provider is always asked. When it fails,
    /// the error comes after the entry. If the answer is faster than the cache, it alone is heard.
    public static let cachedThenRemote = CachePolicy(kind: .cachedThenRemote)

    /// An entry that is young enough, or else the answer.
    ///
    /// One value is heard. The provider is asked if there is no entry, or one that is older; its failure ends the
    /// request, also if an old entry is there.
    public static func cacheElseRemote(maxAge: Duration) -> CachePolicy {
        CachePolicy(kind: .cacheElseRemote(maxAge))
    }

    /// An entry of any age, and the answer too if the entry is old.
    ///
    /// A young entry is all that is heard, and the provider isn't asked. An older one is heard at once, and then the
    /// answer, or the error.
    public static func staleWhileRevalidate(maxAge: Duration) -> CachePolicy {
        CachePolicy(kind: .staleWhileRevalidate(maxAge))
    }

    /// The answer, or the entry if the provider fails.
    ///
    /// The cache is read after a failure, and its entry is heard in the place of the error, whatever its age. Without
    /// an entry the provider's error is heard.
    public static let remoteElseCache = CachePolicy(kind: .remoteElseCache)

    /// The entry, whatever its age. The provider is never asked; without an entry the request fails with
    /// ``CachingError/noEntry``.
    public static let cacheOnly = CachePolicy(kind: .cacheOnly)

    /// The answer. The cache isn't read, but it is written. A request for the same key that is on its way is shared.
    public static let remoteOnly = CachePolicy(kind: .remoteOnly)

    /// A new answer: like ``remoteOnly``, but a request that is on its way already isn't shared.
    public static let refresh = CachePolicy(kind: .refresh)
}

extension CachePolicy {
    /// The age up to which an entry is good enough. Nil if any age is.
    var maxAge: Duration? {
        switch kind {
        case .cacheElseRemote(let age), .staleWhileRevalidate(let age): age
        case .cachedThenRemote, .remoteElseCache, .cacheOnly, .remoteOnly, .refresh: nil
        }
    }

    /// Whether a good entry is the last that is heard.
    @usableFromInline var mayEndWithEntry: Bool {
        switch kind {
        case .cacheElseRemote, .staleWhileRevalidate, .cacheOnly: true
        case .cachedThenRemote, .remoteElseCache, .remoteOnly, .refresh: false
        }
    }

    /// Whether an entry of an age is good enough. One whose age can't be known isn't, where age matters.
    @usableFromInline
    func accepts(age: Duration?) -> Bool {
        guard let maxAge else { return true }
        return age.map { $0 <= maxAge } ?? false
    }
}

extension CachePolicy: CustomStringConvertible {
    /// The policy as it is written.
    public var description: String {
        switch kind {
        case .cachedThenRemote: "cachedThenRemote"
        case .cacheElseRemote(let age): "cacheElseRemote(maxAge: \(age))"
        case .staleWhileRevalidate(let age): "staleWhileRevalidate(maxAge: \(age))"
        case .remoteElseCache: "remoteElseCache"
        case .cacheOnly: "cacheOnly"
        case .remoteOnly: "remoteOnly"
        case .refresh: "refresh"
        }
    }
}
