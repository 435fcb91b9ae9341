public import Foundation

/// A response of ``HTTPService/open(_:)``, whose body is read by the caller.
public struct ServiceStream: Sendable {
    /// The status.
    public var status: Int
    /// The header.
    public var headers: ServiceHeaders
    /// The address of the response: that of the request, or of the last redirect.
    public var url: URL?
    /// The body, unpacked if the server has packed it. It can be read once.
    ///
    /// An error that ends it is thrown as an ``HTTPError``, or as a `CancellationError` as soon as the reading task is
    /// cancelled, which ends the transfer. The transfer also ends when these bytes are released.
    public var bytes: HTTPBytes

    /// Makes a response: for a test.
    public init(status: Int = 200, headers: ServiceHeaders = [:], url: URL? = nil, bytes: HTTPBytes) {
        self.status = status
        self.headers = headers
        self.url = url
        self.bytes = bytes
    }

    /// The length of the body that the server has announced. Nil if it hasn't, or if the body is packed.
    public var length: Int64? { headers.announcedLength }
}

extension ServiceStream: CustomStringConvertible, CustomReflectable {
    public var description: String { "\(status), a stream" }

    /// The description alone, so that `dump` doesn't show the header.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
