public import Foundation

/// What a service answers: a response with its body.
public struct ServiceResponse: Sendable {
    /// The status.
    public var status: Int
    /// The header.
    public var headers: ServiceHeaders
    /// The body, unpacked where the server had packed it. Empty if it is still to come.
    public var body: Data
    /// The body that is still to come, where the request was opened: ``HTTPService/open(_:)``. Nil if all of it is in
    /// ``body``.
    ///
    /// It can be read once. An interceptor may put other bytes in its place, for example those that it looks at on
    /// their way.
    public var stream: HTTPBytes?
    /// Where the response came from: the address of the request, or the one that redirects led to.
    public var url: URL?
    /// Whether redirects led over another origin, so that no credential was with the request that is answered here.
    var hasLeftOrigin = false

    /// Makes a response: for an interceptor that answers itself, or for a test.
    public init(
        status: Int = 200, headers: ServiceHeaders = [:], body: Data = Data(), url: URL? = nil, stream: HTTPBytes? = nil
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.url = url
        self.stream = stream
    }

    /// The body as text. What isn't UTF-8 in it is replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }
}

extension ServiceResponse: CustomStringConvertible, CustomReflectable {
    /// The status and the length of the body, if all of it is there.
    public var description: String { stream == nil ? "\(status), \(body.count) bytes" : "\(status), a stream" }

    /// Nothing but the description: what is dumped holds neither header nor body.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
