/// The one seam to the network: carries a request to a server and brings back what it answers.
///
/// Everything else (checks, redirects, time-outs, limits, verdicts, retries) is done by whoever asks a transport. So a
/// transport is small: it makes one exchange, and answers as soon as the header of the response is there.
///
/// ```swift
/// struct ClientTransport: HTTPTransport {
///     func send(_ request: TransportRequest) async throws -> TransportResponse {
///         let body = try await request.body?.bytes().reduce(into: Data()) { $0 += $1 }
///         let answer = try await client.send(request.method.name, to: request.url, body: body)
///         return TransportResponse(status: answer.code, body: HTTPBytes(answer.bytes))
///     }
/// }
/// ```
///
/// - A redirect is answered as it is, and not followed.
/// - Cookies and credentials are sent if they are in the header, and not otherwise.
/// - Many exchanges may be under way at once, and each may be cancelled. A good transport throws soon after; one that
///   doesn't is left behind, and what it answers is not heard.
/// - The body of the response is read in the pace in which it is asked for, and the transfer ends when nobody holds it.
public protocol HTTPTransport: Sendable {
    /// Makes one exchange. Returns when the header of the response is there.
    ///
    /// Whatever it throws is passed on as the cause of an ``HTTPError``, except for cancellations, which stay what they
    /// are.
    func send(_ request: TransportRequest) async throws -> TransportResponse
}
