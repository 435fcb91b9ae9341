/// What can go wrong in a request to a cached provider, apart from the provider's own errors.
public enum CachingError: Error, Sendable, Hashable {
    /// The policy is ``CachePolicy/cacheOnly``, and nothing is there.
    case noEntry
}

extension CachingError: CustomStringConvertible {
    /// The error in one sentence.
    public var description: String {
        switch self {
        case .noEntry: "The cache has no entry, and the provider isn't to be asked."
        }
    }
}
