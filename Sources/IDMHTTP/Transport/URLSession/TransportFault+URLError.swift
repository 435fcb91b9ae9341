internal import Foundation
#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension TransportFault {
    /// Makes a fault from an error of URLSession.
    ///
    /// On Linux most faults of a response have the code `unknown`, and are identified by a sentence of libcurl.
    ///
    /// - Parameters:
    ///   - hasHead: True if the header of the response has arrived.
    ///   - limit: The maximum number of bytes of a header.
    init(_ error: URLError, hasHead: Bool, headerLimit limit: Int) {
        self.init(Self.kind(error, hasHead: hasHead, headerLimit: limit), cause: error)
    }

    private static func kind(_ error: URLError, hasHead: Bool, headerLimit limit: Int) -> Kind {
        let text = error.localizedDescription
        switch error.code {
        case .notConnectedToInternet, .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .dataNotAllowed,
            .internationalRoamingOff, .callIsActive, .cannotLoadFromNetwork:
            return .unreachable
        case .serverCertificateHasBadDate, .serverCertificateNotYetValid: return .untrusted(.expired)
        case .serverCertificateHasUnknownRoot: return .untrusted(.unknownAuthority)
        case .secureConnectionFailed, .serverCertificateUntrusted, .clientCertificateRejected,
            .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
            return .untrusted(.other)
        case .cannotDecodeRawData, .cannotDecodeContentData:
            return .undecodable
        case .cannotParseResponse:
            return .malformed
        case .networkConnectionLost:
            return hasHead ? .truncated : .lost
        case .dataLengthExceedsMaximum:
            return .headerTooLarge(limit: limit)
        default:
            // The sentences of libcurl. It takes 100 KB for a line of a header, and three times that for all of it.
            if text.contains("Out of memory") { return .headerTooLarge(limit: min(limit, 100 << 10)) }
            if text.contains("Too large response headers") { return .headerTooLarge(limit: min(limit, 300 << 10)) }
            if text.contains("content unencoding") || text.contains("content encoding") { return .undecodable }
            if text.contains("Failed writing header") || text.contains("HTTP/0.9") { return .malformed }
            if text.contains("Empty reply") { return .lost }
            if hasHead { return .truncated }
            return error.code == .badServerResponse ? .malformed : .other
        }
    }
}
