public import Foundation

/// What a service answers: a response with its body.
public struct ServiceResponse: Sendable {
    /// The status.
    public var status: Int
    /// The header.
    public var headers: ServiceHeaders
    /// The body, unpacked where the server had packed it.
    public var body: Data
    /// Where the response came from: the address of the request, or the one that redirects led to.
    public var url: URL?

    /// Makes a response: for an interceptor that answers itself, or for a test.
    public init(status: Int = 200, headers: ServiceHeaders = [:], body: Data = Data(), url: URL? = nil) {
        self.status = status
        self.headers = headers
        self.body = body
        self.url = url
    }

    /// The body as text. What isn't UTF-8 in it is replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }
}

extension ServiceResponse: CustomStringConvertible, CustomReflectable {
    /// The status and the length of the body.
    public var description: String { "\(status), \(body.count) bytes" }

    /// Nothing but the description: what is dumped holds neither header nor body.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
