public import Foundation

/// A body of parts, as a browser's form with files sends it (`multipart/form-data`, RFC 7578).
///
/// The boundary between parts has 122 random bits, so that no part contains it.
public struct MultipartBody: Sendable {
    /// One part.
    public struct Part: Sendable {
        enum Content: Sendable {
            case data(Data)
            case file(URL)
        }

        let name: String
        let fileName: String?
        let contentType: String?
        let content: Content

        /// A field of text.
        public static func text(_ name: String, _ value: String) -> Part {
            Part(name: name, fileName: nil, contentType: nil, content: .data(Data(value.utf8)))
        }

        /// Bytes in memory. With a file name they are a file for the server.
        public static func data(
            _ name: String, _ data: Data, fileName: String? = nil, contentType: String = "application/octet-stream"
        ) -> Part {
            Part(name: name, fileName: fileName, contentType: contentType, content: .data(data))
        }

        /// A file, read while it is sent. Its name is the one on disk unless `fileName` is given.
        public static func file(
            _ name: String, _ url: URL, fileName: String? = nil, contentType: String = "application/octet-stream"
        ) -> Part {
            Part(name: name, fileName: fileName ?? url.lastPathComponent, contentType: contentType, content: .file(url))
        }
    }

    /// The parts, in the order in which they are sent.
    public let parts: [Part]
    /// The text between parts. It occurs nowhere else in the body.
    public let boundary: String

    /// A body of some parts.
    public init(_ parts: [Part]) { self.init(parts, boundary: "idm-\(UUID().uuidString)") }

    init(_ parts: [Part], boundary: String) { (self.parts, self.boundary) = (parts, boundary) }

    /// The body in segments: small ones in memory, and the files between them.
    func segments() throws(RequestBody.Fault) -> [BodySegment] {
        var segments: [BodySegment] = []
        for part in parts {
            if let type = part.contentType, !type.utf8.allSatisfy({ (32...126).contains($0) }) { throw .contentType }
            segments.append(.data(Data("--\(boundary)\r\n\(part.header)\r\n\r\n".utf8)))
            switch part.content {
            case .data(let data): segments.append(.data(data))
            case .file(let url): segments.append(try .file(url))
            }
            segments.append(.data(Data("\r\n".utf8)))
        }
        segments.append(.data(Data("--\(boundary)--\r\n".utf8)))
        return segments
    }
}

extension MultipartBody.Part {
    fileprivate var header: String {
        var header = "Content-Disposition: form-data; name=\"\(name.escapedForQuotes)\""
        if let fileName { header += "; filename=\"\(fileName.escapedForQuotes)\"" }
        if let contentType { header += "\r\nContent-Type: \(contentType)" }
        return header
    }
}

extension String {
    /// The text between quotes as browsers write it: quotes and control characters are percent-escaped.
    fileprivate var escapedForQuotes: String {
        var bytes: [UInt8] = []
        for byte in utf8 {
            if byte < 32 || byte == 127 || byte == UInt8(ascii: "\"") {
                bytes += Array("%\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))".utf8)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
