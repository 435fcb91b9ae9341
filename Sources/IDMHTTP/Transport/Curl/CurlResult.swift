#if os(Linux)
internal import Foundation

/// The end of a transfer of libcurl.
struct CurlResult: Sendable {
    /// The code of libcurl. 0 if it has succeeded.
    var code: Int32
    /// libcurl's description of the error.
    var text = ""
    /// OpenSSL's verdict on the certificate.
    var verification = 0
    /// The status of a proxy that was asked for a tunnel. 0 if none was.
    var tunnelStatus = 0

    /// The fault that this means. Nil if the transfer has succeeded.
    ///
    /// - Parameters:
    ///   - hasHead: True if the head of the response has arrived.
    ///   - headerLimit: The most bytes of a head.
    func fault(hasHead: Bool, headerLimit: Int) -> TransportFault? {
        guard code != 0 || !hasHead else { return nil }
        return TransportFault(kind(hasHead: hasHead, headerLimit: headerLimit), curlCode: code)
    }

    private func kind(hasHead: Bool, headerLimit: Int) -> TransportFault.Kind {
        switch code {
        // Whatever the tunnel's proxy says, it isn't the response.
        case 56 where tunnelStatus != 0 && !(200..<300).contains(tunnelStatus): return .unreachable
        case 5, 6, 7, 28, 45, 97: return .unreachable
        case 35: return tlsKind
        case 60: return .untrusted(certificateReason)
        case 53, 54, 58, 59, 66, 77, 80, 82, 83, 90, 91, 98: return .untrusted(.other)
        case 61: return .undecodable
        case 1, 8: return hasHead ? .truncated : .malformed
        // A line of a head that is longer than libcurl takes, and a head that is.
        case 27 where !hasHead: return .headerTooLarge(limit: min(headerLimit, 100 << 10))
        case 100 where !hasHead: return .headerTooLarge(limit: min(headerLimit, 300 << 10))
        case 56 where !hasHead && text.hasPrefix("Too large response headers"):
            return .headerTooLarge(limit: min(headerLimit, 300 << 10))
        case 0, 16, 18, 52, 55, 56, 65, 92, 95: return hasHead ? .truncated : .lost
        default: return hasHead ? .truncated : .other
        }
    }

    /// The kind of a failed handshake, which libcurl reports in a sentence of OpenSSL's.
    private var tlsKind: TransportFault.Kind {
        let reasons: [(String, TransportFault.Kind)] = [
            ("wrong version number", .untrusted(.notTLS)), ("unknown protocol", .untrusted(.notTLS)),
            ("http request", .untrusted(.notTLS)), ("packet length too long", .untrusted(.notTLS)),
            ("unsupported protocol", .untrusted(.oldTLS)), ("protocol version", .untrusted(.oldTLS)),
            ("no protocols available", .untrusted(.oldTLS)), ("SSL_ERROR_SYSCALL", .lost), ("reset by peer", .lost),
            ("unexpected eof", .lost),
        ]
        return reasons.first { text.contains($0.0) }?.1 ?? .untrusted(.other)
    }

    private var certificateReason: TransportFault.Reason {
        switch verification {
        // libcurl compares the name by itself, before it asks OpenSSL or behind it.
        case 0, 1, 62, 64: .otherHost
        case 9, 10: .expired
        case 2, 18, 19, 20, 21, 27: .unknownAuthority
        default: .other
        }
    }
}
#endif
