public import Foundation

/// The connection to the network: sends a request to a server and returns its response.
///
/// The service does everything else (checks, redirects, time-outs, limits, rules, retries). A transport makes one
/// exchange, and returns as soon as the header of the response has arrived.
///
/// ```swift
/// struct ClientTransport: HTTPTransport {
///     func send(_ request: TransportRequest) async throws -> TransportResponse {
///         let body = try await request.body?.bytes().reduce(into: Data()) { $0 += $1 }
///         let answer = try await client.send(
///             request.method.name, to: request.url, body: body)
///         return TransportResponse(status: answer.code, body: HTTPBytes(answer.bytes))
///     }
/// }
/// ```
///
/// - It returns a redirect as it is, without following it.
/// - It sends the cookies and credentials of the header, and no others.
/// - It makes many exchanges at once, each of which can be cancelled. It should throw soon after a cancel; otherwise
///   the service abandons the exchange and discards its response.
/// - It receives the body at the reader's pace, and ends the transfer when the body is released.
public protocol HTTPTransport: Sendable {
    /// Makes one exchange. Returns when the header of the response is there.
    ///
    /// An error becomes the reason of an ``HTTPError``: ``HTTPError/Reason/transport(_:)``, or a more precise one
    /// for a cancellation, a time-out of URLSession, a fault of the request's body and a limit.
    func send(_ request: TransportRequest) async throws -> TransportResponse
}

/// The head of a response, with the body that is still to be read.
public struct TransportResponse: Sendable {
    /// The status.
    public var status: Int
    /// The header.
    public var headers: ServiceHeaders
    /// The body, unpacked where the server had packed it.
    public var body: HTTPBytes

    /// Makes a response.
    public init(status: Int, headers: ServiceHeaders = [:], body: HTTPBytes = HTTPBytes(Data())) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
