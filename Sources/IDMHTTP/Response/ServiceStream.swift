public import Foundation

/// What a service answers when a request is opened: a response whose body is still to come.
///
/// ```swift
/// let stream = try await service.open(ServiceRequest(.get, "/events"))
/// for try await event in stream.bytes.events() { print(event.data) }
/// ```
public struct ServiceStream: Sendable {
    /// The status.
    public var status: Int
    /// The header.
    public var headers: ServiceHeaders
    /// Where the response came from: the address of the request, or the one that redirects led to.
    public var url: URL?
    /// The body, unpacked where the server had packed it. It can be read once, as it comes.
    ///
    /// What stops it is thrown as an ``HTTPError``; a `CancellationError` as soon as the task that reads is cancelled,
    /// which ends the transfer. It ends as well when nobody holds these bytes any more.
    public var bytes: HTTPBytes

    /// Makes a response: for a test.
    public init(status: Int = 200, headers: ServiceHeaders = [:], url: URL? = nil, bytes: HTTPBytes) {
        self.status = status
        self.headers = headers
        self.url = url
        self.bytes = bytes
    }

    /// How many bytes are to come, as the server has announced it. Nil if it hasn't, or if it has packed them.
    public var length: Int64? { headers.announcedLength }
}

extension ServiceStream: CustomStringConvertible, CustomReflectable {
    /// The status.
    public var description: String { "\(status), a stream" }

    /// Nothing but the description: what is dumped doesn't hold the header.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
