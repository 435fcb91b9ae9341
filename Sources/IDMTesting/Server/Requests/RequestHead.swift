import IDMHTTP

/// The head of a request, as it came.
struct RequestHead: Sendable, Hashable {
    /// How many bytes follow, if any do.
    enum Framing: Sendable, Hashable {
        case length(Int)
        case chunks
    }

    var method: ServiceRequest.Method
    var target: String
    var headers: ServiceHeaders
    var bytes: [UInt8]
    var framing: Framing
    /// Whether the client wants the connection closed behind the answer.
    var closes: Bool
    /// Whether the client waits for a word before it sends the body.
    var awaitsContinue: Bool
}
