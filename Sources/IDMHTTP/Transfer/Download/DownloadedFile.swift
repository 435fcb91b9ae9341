public import Foundation

/// A file that has been downloaded.
public struct DownloadedFile: Sendable, Hashable {
    /// Where it is.
    public let url: URL
    /// How many bytes it has.
    public let size: Int64
    /// Its SHA-256 digest in hexadecimal digits, if one was expected.
    public let sha256: String?

    /// Makes a file: for a test.
    public init(url: URL, size: Int64, sha256: String? = nil) {
        self.url = url
        self.size = size
        self.sha256 = sha256
    }
}
