/// An error of the code around a provider. The provider's own errors are passed on unchanged.
public enum DataProviderError: Error, Sendable, Hashable {
    /// A callback provider released its completion without calling it, or a stream ended without a value.
    case noAnswer
    /// The request took longer than ``DataProvider/timeout(_:clock:)`` allows.
    case timedOut(after: Duration)
}

extension DataProviderError: CustomStringConvertible {
    /// A description for developers. For the users of an app there is ``errorDescription``.
    public var description: String {
        switch self {
        case .noAnswer: "The provider ended without an answer."
        case .timedOut(let duration): "The provider did not answer within \(duration)."
        }
    }
}
