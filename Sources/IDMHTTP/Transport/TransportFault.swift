public import Foundation

/// Why a transport could not make an exchange, in words that are the same on every platform.
///
/// It comes as the cause of an ``HTTPError``, with ``HTTPError/Reason/transport(_:)``; what is too large has reasons of
/// its own there.
public struct TransportFault: Error, Sendable {
    /// The kind of the fault.
    public let kind: Kind
    /// The system's error, if there is one. It can contain the URL with its secrets.
    public let cause: URLError?
    /// The code of libcurl, if it found the fault.
    public let curlCode: Int32?

    /// Makes a fault.
    public init(_ kind: Kind, cause: URLError? = nil, curlCode: Int32? = nil) {
        self.kind = kind
        self.cause = cause
        self.curlCode = curlCode
    }

    /// Why a server isn't trusted.
    public enum Reason: Sendable, Hashable {
        /// Its certificate was signed by itself or by an authority that isn't known.
        case unknownAuthority
        /// Its certificate isn't valid any more, or not yet.
        case expired
        /// Its certificate is for another host.
        case otherHost
        /// It doesn't speak TLS.
        case notTLS
        /// It speaks a version of TLS that is too old.
        case oldTLS
        /// Something else, or the system doesn't say.
        case other
    }

    /// The kinds of faults.
    public enum Kind: Sendable, Hashable {
        /// There is no network, no such host, or no server at the address.
        case unreachable
        /// The server isn't trusted, or doesn't trust the client.
        case untrusted(Reason)
        /// The connection broke before a response was there.
        case lost
        /// The body broke off before its end.
        case truncated
        /// The response isn't HTTP, or isn't sound.
        case malformed
        /// The body isn't packed in the way in which the header has it.
        case undecodable
        /// The header has more bytes than are taken.
        case headerTooLarge(limit: Int)
        /// The header has more lines than are taken.
        case tooManyHeaders(limit: Int)
        /// The body has more bytes than are taken, once it is unpacked.
        case bodyTooLarge(limit: Int)
        /// The request allows a cached response only, and there is none.
        case notCached
        /// There is no room for what has to be put aside on disk: what a slow reader hasn't taken yet, or a body before
        /// it is sent.
        case noSpace
        /// It can't be put aside for another reason, or can't be fetched again: what `errno` was.
        case notPutAside(code: Int32)
        /// Something else.
        case other

        /// True if another attempt may succeed.
        var isTransient: Bool {
            switch self {
            case .unreachable, .lost, .truncated, .malformed, .undecodable, .other: true
            case .untrusted, .headerTooLarge, .tooManyHeaders, .bodyTooLarge, .notCached, .noSpace, .notPutAside: false
            }
        }
    }
}

extension TransportFault: CustomStringConvertible, CustomReflectable {
    /// The fault in a few words, without the URL.
    public var description: String {
        let words =
            switch kind {
            case .unreachable: "the server can't be reached"
            case .untrusted(.unknownAuthority): "the server isn't trusted: the authority isn't known"
            case .untrusted(.expired): "the server isn't trusted: the certificate isn't valid at this time"
            case .untrusted(.otherHost): "the server isn't trusted: the certificate is for another host"
            case .untrusted(.notTLS): "the server doesn't speak TLS"
            case .untrusted(.oldTLS): "the server speaks a version of TLS that is too old"
            case .untrusted(.other): "the server isn't trusted"
            case .lost: "the connection broke"
            case .truncated: "the body broke off"
            case .malformed: "the response isn't sound"
            case .undecodable: "the body can't be unpacked"
            case .headerTooLarge(let limit): "the header is larger than \(limit) bytes"
            case .tooManyHeaders(let limit): "the header has more than \(limit) lines"
            case .bodyTooLarge(let limit): "the body is larger than \(limit) bytes"
            case .notCached: "there is nothing in a cache"
            case .noSpace: "there is no room on disk for what has to be put aside"
            case .notPutAside(let code): "a temporary file can't be used (\(code))"
            case .other: "something went wrong"
            }
        if let curlCode { return "\(words) (curl \(curlCode))" }
        return cause.map { "\(words) (\($0.errorCode))" } ?? words
    }

    /// The description alone, so that `dump` shows no secrets.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
