/// Something that happened to a request on its way. Secrets are redacted.
public struct HTTPEvent: Sendable, Hashable {
    /// The time since the request was made.
    public let time: Duration
    /// The kind of the event.
    public let kind: Kind

    /// The kinds of events.
    public enum Kind: Sendable, Hashable {
        /// The request waits for a connection, for a place of a ``ConcurrencyInterceptor``, or for an equal request.
        case queued
        /// The request is sent, for the first time or again, or the cache answers it. The number of bytes is nil if it
        /// isn't known.
        case attempt(Int, bytes: Int?)
        /// The header of a response has come.
        case response(status: Int)
        /// The response is a redirect.
        case redirect(to: String)
        /// The body of a response has come.
        case received(bytes: Int)
        /// A retry with this number follows after a delay, for a reason.
        case retry(Int, after: Duration, because: String)
        /// The credential was rejected, and a refresh begins.
        case refresh
        /// The request has ended with a response.
        case success(status: Int)
        /// The request has ended without one.
        case failure(String)
    }
}

extension HTTPEvent: CustomStringConvertible {
    public var description: String { "\(time.inSeconds) \(kind)" }
}

extension HTTPEvent.Kind: CustomStringConvertible {
    public var description: String {
        switch self {
        case .queued: "queued"
        case .attempt(let number, let bytes): "attempt \(number)\(bytes.map { ", \($0) bytes" } ?? "")"
        case .response(let status): "response \(status)"
        case .redirect(let url): "redirect to \(url)"
        case .received(let bytes): "received \(bytes) bytes"
        case .retry(let number, let wait, let reason): "retry \(number) after \(wait.inSeconds): \(reason)"
        case .refresh: "refresh"
        case .success(let status): "success \(status)"
        case .failure(let reason): "failure: \(reason)"
        }
    }
}

extension Duration {
    /// The duration in seconds, to the millisecond.
    var inSeconds: String {
        let milliseconds = Int(exactly: (self / .milliseconds(1)).rounded(.down)).map { max($0, 0) } ?? .max
        let fraction = String(milliseconds % 1000)
        return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction) s"
    }
}
