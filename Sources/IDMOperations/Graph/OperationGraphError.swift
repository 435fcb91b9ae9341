/// Why a graph could not be run, or not to its end.
public enum OperationGraphError: Error, Sendable {
    /// Nodes wait for one another: each of these for the next. The last is the first again.
    case cycle([String])
    /// A node of another graph was named.
    case foreignNode(String)
    /// A node has failed, and the others were stopped. The results hold what had come by then.
    case failed(String, because: any Error, results: OperationGraphResults)
}

extension OperationGraphError: CustomStringConvertible {
    /// The error in one sentence.
    public var description: String {
        switch self {
        case .cycle(let names): "The nodes wait for one another: \(names.joined(separator: " → "))."
        case .foreignNode(let name): "The node “\(name)” belongs to another graph."
        case .failed(let name, let error, _): "The node “\(name)” failed: \(error)"
        }
    }
}
