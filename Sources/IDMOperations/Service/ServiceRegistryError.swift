/// Why a service could not be had.
public enum ServiceRegistryError: Error, Sendable, Hashable {
    /// Nobody has registered the service.
    case missing(String)
    /// The service is made once for each scope, and the registry that was asked is not a scope.
    case outOfScope(String)
    /// To make the first service, each needs the next one, and the last is the first again.
    case recursive([String])
    /// The registry or scope has been closed, perhaps while the service was made.
    case closed(String)
}

extension ServiceRegistryError: CustomStringConvertible {
    /// The error in one sentence.
    public var description: String {
        switch self {
        case .missing(let name): "No service \(name) is registered."
        case .outOfScope(let name): "The service \(name) is made for each scope, and there is no scope here."
        case .recursive(let names): "The services need one another to be made: \(names.joined(separator: " → "))."
        case .closed(let name): "The service \(name) isn't to be had: its scope was closed."
        }
    }
}
