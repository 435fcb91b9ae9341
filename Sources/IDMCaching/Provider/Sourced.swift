/// A value, and where it comes from.
public struct Sourced<Value: Sendable>: Sendable {
    /// The value.
    public let value: Value
    /// Where the value comes from.
    public let source: CacheSource

    /// Makes a value with its source.
    public init(_ value: Value, from source: CacheSource) {
        self.value = value
        self.source = source
    }
}

extension Sourced: Equatable where Value: Equatable {}
extension Sourced: Hashable where Value: Hashable {}

/// Where a value comes from.
public enum CacheSource: Sendable, Hashable {
    /// From the cache. The age is nil if it can't be known: the clock was set since the entry was written.
    case cache(age: Duration?)
    /// From the provider.
    case remote
}
