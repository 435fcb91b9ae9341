public import Foundation
internal import Synchronization

/// The body of a request.
///
/// ```swift
/// let request = ServiceRequest(.post, "/users", body: .json(user))
/// ```
///
/// A body is made when the request is sent: values are encoded at that time, and files are read while they are sent. It
/// sets its own `Content-Type`, which a header of the request can replace.
///
/// Every body except a stream can be sent again, for a redirect, a retry or a replay with another credential; a stream
/// can if it declares that. Of a file, or of a multipart body with files, at most a piece of 64 KB is in memory.
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

    /// JSON that is written in place, of mixed types: `.json(["name": "Ada", "age": 36, "tags": [], "boss": nil])`.
    public static func json(_ value: ServiceJSON) -> RequestBody {
        json(value, encoder: JSONEncoder())
    }

    /// Names and values as a browser's form sends them.
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

    /// Bytes that come while they travel.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, in pieces.
    ///   - contentType: What they are.
    ///   - length: How many there are, if that is known. More or fewer fail the request.
    ///   - isReplayable: Whether they can be read again from the start. If not, a request that would have to send them
    ///     twice (a redirect, a retry, a replay with another credential) fails instead.
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
    /// Why a body can't be made, or can't be sent to its end.
    public enum Fault: Error, Sendable, Hashable {
        /// A value can't be encoded: where it is in its type, and why.
        case encoding(path: String, reason: String)
        /// A file can't be read as far as it was announced.
        case file(String, reason: String)
        /// The type of the body, or of a part of it, can't stand in a header.
        case contentType
        /// A request with a multipart body sets a Content-Type, which can't name the boundary.
        case contentTypeOfMultipart
        /// A stream has more or fewer bytes than it announced.
        case length(announced: Int, found: Int)
        /// A stream that can be read once would have to be read again.
        case usedUp
    }

    /// True if the body can be sent again.
    var isReplayable: Bool {
        if case .stream(_, _, .some) = kind { false } else { true }
    }

    /// Lets a stream through once.
    final class Passage: Sendable {
        private let isUsed = Atomic(false)

        func take() throws(Fault) {
            if isUsed.exchange(true, ordering: .relaxed) { throw .usedUp }
        }
    }
}

extension RequestBody.Fault: CustomStringConvertible {
    /// The fault in one sentence.
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
