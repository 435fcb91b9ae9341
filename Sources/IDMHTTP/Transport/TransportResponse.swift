public import Foundation

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
