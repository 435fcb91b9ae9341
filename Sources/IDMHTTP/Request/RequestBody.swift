public import Foundation
internal import Synchronization

/// The body of a request.
///
/// Values are encoded when the request is sent, and files are read while they are sent, 64 KB at a time. The body sets
/// its `Content-Type`, which a header of the request can replace.
///
/// Every body except a stream can be sent again, for a redirect, a retry or a replay with another credential; a stream
/// can if it declares that.
public struct RequestBody: Sendable {
    enum Kind: Sendable {
        case encoder(@Sendable () throws -> Data)
        case bytes(Data)
        case form(ServiceRequest.Query)
        case file(URL)
        case multipart(MultipartBody)
        case stream(HTTPBytes, length: Int?, Passage?)
    }

    /// The `Content-Type` of the body.
    public let contentType: String
    let kind: Kind

    /// A value as JSON.
    public static func json(
        _ value: some Encodable & Sendable, encoder: JSONEncoder = JSONEncoder()
    ) -> RequestBody {
        RequestBody(contentType: "application/json", kind: .encoder { try encoder.encode(value) })
    }

    /// JSON of mixed types in place: `.json(["name": "Ada", "age": 36, "tags": [], "boss": nil])`.
    public static func json(_ value: ServiceJSON) -> RequestBody {
        json(value, encoder: JSONEncoder())
    }

    /// The fields of a form, as browsers send them.
    public static func form(_ fields: ServiceRequest.Query) -> RequestBody {
        RequestBody(contentType: "application/x-www-form-urlencoded", kind: .form(fields))
    }

    /// Parts of different kinds, files among them. Files are read while they travel.
    public static func multipart(_ body: MultipartBody) -> RequestBody {
        RequestBody(contentType: "multipart/form-data; boundary=\(body.boundary)", kind: .multipart(body))
    }

    /// Parts of different kinds, files among them. Files are read while they travel.
    public static func multipart(_ parts: [MultipartBody.Part]) -> RequestBody {
        multipart(MultipartBody(parts))
    }

    /// Bytes as they are.
    public static func bytes(_ data: Data, contentType: String = "application/octet-stream") -> RequestBody {
        RequestBody(contentType: contentType, kind: .bytes(data))
    }

    /// Text in UTF-8.
    public static func text(_ text: String, contentType: String = "text/plain; charset=utf-8") -> RequestBody {
        RequestBody(contentType: contentType, kind: .bytes(Data(text.utf8)))
    }

    /// A file, read while it travels.
    public static func file(_ url: URL, contentType: String = "application/octet-stream") -> RequestBody {
        RequestBody(contentType: contentType, kind: .file(url))
    }

    /// A body from an encoder of your own, called each time the body is made.
    public static func custom(
        contentType: String, encode: @escaping @Sendable () throws -> Data
    ) -> RequestBody {
        RequestBody(contentType: contentType, kind: .encoder(encode))
    }

    /// Bytes that are read while they are sent. If their length is given, more or fewer fail the request. A request that
    /// has to send them twice fails unless they are replayable: unless they can be read again from the start.
    public static func stream(
        _ bytes: HTTPBytes, contentType: String = "application/octet-stream", length: Int? = nil,
        isReplayable: Bool = false
    ) -> RequestBody {
        RequestBody(
            contentType: contentType,
            kind: .stream(bytes, length: length, isReplayable ? nil : Passage()))
    }
}

extension RequestBody {
    /// The reasons for which a body can't be encoded or sent.
    public enum Fault: Error, Sendable, Hashable {
        /// A value can't be encoded: its path and the reason.
        case encoding(path: String, reason: String)
        /// A file can't be read, or has changed.
        case file(String, reason: String)
        /// The content type of the body, or of a part, is invalid.
        case contentType
        /// A request with a multipart body has a `Content-Type` of its own, without the boundary.
        case contentTypeOfMultipart
        /// A stream has more or fewer bytes than it announced.
        case length(announced: Int, found: Int)
        /// A stream that can be read once would have to be read again.
        case usedUp
    }

    var isReplayable: Bool {
        if case .stream(_, _, .some) = kind { false } else { true }
    }

    /// Allows one reading of a stream.
    final class Passage: Sendable {
        private let isUsed = Atomic(false)

        func take() throws(Fault) {
            if isUsed.exchange(true, ordering: .relaxed) { throw .usedUp }
        }
    }
}

extension RequestBody.Fault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .encoding(let path, let reason):
            // The keys of a dictionary may be anything.
            path.isEmpty
                ? "The body can't be encoded: \(reason)".endingSentence
                : "The body can't be encoded at \(path.escapedForDescription(limit: 200)): \(reason)".endingSentence
        case .file(let name, let reason): "The file “\(name)” can't be sent: \(reason)".endingSentence
        case .contentType: "The content type of the body can't stand in a header."
        case .contentTypeOfMultipart: "A multipart body brings its own Content-Type, with the boundary in it."
        case .length(let announced, let found): "The body was to have \(announced) bytes, and had \(found)."
        case .usedUp: "The body can be read once only, and would have to be sent again."
        }
    }
}
