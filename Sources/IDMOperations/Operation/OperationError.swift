/// What can go wrong around an operation, apart from the errors of its provider.
public enum OperationError: Error, Sendable {
    /// The operation was to take its input from another one, which has not succeeded: it failed with this error, or was
    /// cancelled if there is none, or had not ended yet.
    case noInput(from: String, because: (any Error)?)
    /// A Foundation operation has finished without the output that was to be read from it.
    case noOutput(of: String)
    /// An operation that was to be run had been started before, or waits in a queue for an earlier request
    /// of any provider.
    case alreadyStarted(String)
}

extension OperationError: CustomStringConvertible {
    /// The error in one sentence.
    public var description: String {
        switch self {
        case .noInput(let name, let error?): "There is no input, because the operation “\(name)” failed: \(error)"
        case .noInput(let name, nil): "There is no input, because the operation “\(name)” has not succeeded."
        case .noOutput(let name): "The operation “\(name)” finished without an output."
        case .alreadyStarted(let name): "The operation “\(name)” can't run again: it has been started or queued before."
        }
    }
}
