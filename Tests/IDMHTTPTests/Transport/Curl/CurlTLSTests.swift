#if os(Linux)
import Foundation
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite(
    "TLS over libcurl", .fewAtOnce, .timeLimit(.ample),
    .enabled(if: TLSServer.isAvailable, "needs python3 with ssl, and the tool of OpenSSL"))
struct CurlTLSTests {
    private let folder: TemporaryFolder
    private let authority: URL

    init() throws {
        folder = try TemporaryFolder()
        authority = try TLSServer.makeCertificates(in: folder.url)
    }

    private func service(_ server: TLSServer, certificates: URL?) throws -> HTTPService {
        HTTPService(
            configuration: ServiceConfiguration(baseURL: server.url, idleTimeout: .patient),
            transport: try CurlTransport(certificates: certificates), interceptors: [RetryInterceptor(3)])
    }

    @Test(
        "lets a sound server through, and says what is wrong with another one",
        arguments: [
            ("http/1.1", "good", "200 hello at 1"), ("h2", "good", "200 hello at 1"),
            ("h2trailers", "good", "200 hello at 1"), ("close", "good", "200 hello at 1"),
            ("cut", "good", "truncated"), ("http/1.1", "expired", "untrusted(\(prefix)expired)"),
            ("http/1.1", "other", "untrusted(\(prefix)otherHost)"),
            ("http/1.1", "own", "untrusted(\(prefix)unknownAuthority)"),
            ("tls1.0", "good", "untrusted(\(prefix)oldTLS)"), ("plain", "good", "untrusted(\(prefix)notTLS)"),
        ] as [(String, String, String)])
    func trust(kind: String, certificate: String, expected: String) async throws {
        let server = try #require(try TLSServer(kind, certificate: certificate, in: folder.url))
        var service = try service(server, certificates: authority)
        if kind == "cut" { service.interceptors = [] }

        let outcome = await service.outcome()

        #expect(outcome == expected)
    }

    private static let prefix = "IDMHTTP.TransportFault.Reason."

    @Test("doesn't let a server through whose authority the system doesn't know")
    func systemAuthorities() async throws {
        let server = try #require(try TLSServer("http/1.1", certificate: "good", in: folder.url))

        let outcome = await (try service(server, certificates: nil)).outcome()

        #expect(outcome == "untrusted(\(Self.prefix)unknownAuthority)")
    }

    @Test("carries 64 requests at once over one connection of HTTP/2")
    func multiplexing() async throws {
        let server = try #require(try TLSServer("h2", certificate: "good", in: folder.url))
        let service = try service(server, certificates: authority)

        let outcomes = await withTaskGroup(of: String.self) { group in
            for _ in 0..<256 { group.addTask { await service.outcome() } }
            return await group.reduce(into: Set()) { $0.insert($1) }
        }

        #expect(outcomes == ["200 hello at 1"])
    }

    @Test("lets nothing through that a server sends unasked", arguments: ["poison", "split"])
    func poison(kind: String) async throws {
        let server = try #require(try TLSServer(kind, certificate: "good", in: folder.url))
        let service = try service(server, certificates: authority)

        for number in 1...20 {
            let outcome = await service.outcome(ServiceRequest(number.isMultiple(of: 2) ? .get : .post, "/"))
            #expect(outcome.hasPrefix("200 hello at "), "\(number)")
        }
    }
}
#endif
