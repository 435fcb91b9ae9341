/// What can go wrong around a provider, apart from the provider's own errors.
public enum DataProviderError: Error, Sendable, Hashable {
    /// A provider that calls back let go of its completion without calling it, or a stream ended without a value.
    case noAnswer
    /// The answer did not come within the time that ``DataProvider/timeout(_:clock:)`` allows.
    case timedOut(after: Duration)
}

extension DataProviderError: CustomStringConvertible {
    /// The error in one sentence.
    public var description: String {
        switch self {
        case .noAnswer: "The provider ended without an answer."
        case .timedOut(let duration): "The provider did not answer within \(duration)."
        }
    }
}
