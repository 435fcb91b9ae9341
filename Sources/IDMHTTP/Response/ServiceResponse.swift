public import Foundation

/// A response of a service, with its body.
public struct ServiceResponse: Sendable {
    /// The status.
    public var status: Int
    /// The header.
    public var headers: ServiceHeaders
    /// The body, unpacked where the server had packed it. Empty if it is still to come.
    public var body: Data
    /// The unread body of a response of ``HTTPService/open(_:)``. Nil if ``body`` is the whole body.
    ///
    /// It can be read once. An interceptor can replace it, for example to observe its pieces.
    public var stream: HTTPBytes?
    /// The address of the response: that of the request, or of the last redirect.
    public var url: URL?
    /// True if a redirect led over another origin, so that the answered request carried no credential.
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
    public var description: String { stream == nil ? "\(status), \(body.count) bytes" : "\(status), a stream" }

    /// The description alone, so that `dump` shows neither header nor body.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
