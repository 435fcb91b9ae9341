#if os(Linux)
import Foundation
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite(
    "CurlTransport over TLS", .fewAtOnce, .timeLimit(.ample),
    .enabled(if: TLSServer.isAvailable, "needs python3 with ssl, and the tool of OpenSSL"))
struct CurlTLSTests {
    private let folder: TemporaryFolder
    private let authority: URL

    init() throws {
        folder = try TemporaryFolder()
        authority = try TLSServer.makeCertificates(in: folder.url)
    }

    private func service(_ server: TLSServer, certificates: URL?) throws -> HTTPService {
        var configuration = ServiceConfiguration(baseURL: server.url, idleTimeout: .patient)
        configuration.cache = nil
        return HTTPService(
            configuration: configuration, transport: try CurlTransport(certificates: certificates),
            interceptors: [RetryInterceptor(3)])
    }

    @Test(
        "A TLS server is accepted, or refused after one attempt with its fault",
        arguments: [
            ("http/1.1", "good", "200 hello at 1"), ("h2", "good", "200 hello at 1"),
            ("h2trailers", "good", "200 hello at 1"), ("http/1.1", "expired", "untrusted(\(prefix)expired)"),
            ("http/1.1", "other", "untrusted(\(prefix)otherHost)"),
            ("http/1.1", "own", "untrusted(\(prefix)unknownAuthority)"),
            ("tls1.0", "good", "untrusted(\(prefix)oldTLS)"), ("plain", "good", "untrusted(\(prefix)notTLS)"),
        ] as [(String, String, String)])
    func trust(kind: String, certificate: String, expected: String) async throws {
        let server = try #require(try TLSServer(kind, certificate: certificate, in: folder.url))
        let service = try service(server, certificates: authority)

        let outcome = await service.outcome()

        #expect(outcome == expected && server.connectionCount() == 1)
    }

    private static let prefix = "IDMHTTP.TransportFault.Reason."

    @Test("An authority that the system doesn't know is refused by default")
    func systemAuthorities() async throws {
        let server = try #require(try TLSServer("http/1.1", certificate: "good", in: folder.url))

        let outcome = await (try service(server, certificates: nil)).outcome()

        #expect(outcome == "untrusted(\(Self.prefix)unknownAuthority)" && server.connectionCount() == 1)
    }

    @Test(
        "A body that ends with its TLS connection is complete only after close_notify",
        arguments: [("close", "200 hello at 1"), ("cut", "truncated")])
    func closeNotify(kind: String, expected: String) async throws {
        let server = try #require(try TLSServer(kind, certificate: "good", in: folder.url))
        var service = try service(server, certificates: authority)
        service.interceptors = []

        let outcome = await service.outcome()

        #expect(outcome == expected)
    }

    @Test("256 concurrent requests share one HTTP/2 connection")
    func multiplexing() async throws {
        let server = try #require(try TLSServer("h2", certificate: "good", in: folder.url))
        let service = try service(server, certificates: authority)

        let outcomes = await withTaskGroup(of: String.self) { group in
            for _ in 0..<256 { group.addTask { await service.outcome() } }
            return await group.reduce(into: Set()) { $0.insert($1) }
        }

        #expect(outcomes == ["200 hello at 1"])
    }

    @Test("An unrequested response over TLS never answers a request", arguments: ["http/1.1", "split"])
    func poison(kind: String) async throws {
        let server = try #require(try TLSServer(kind, certificate: "good", in: folder.url))
        var service = try service(server, certificates: authority)
        service.configuration.redirects = .handOver
        service.rules = [.accept([200, 204, 302, 304, 401])]
        let firsts = CurlPoisoningTests.First.allCases

        for number in 0..<Volume.of(1_000 * firsts.count, normally: 4 * firsts.count) {
            let first = firsts[number % firsts.count]
            _ = await service.outcome(ServiceRequest(first == .head ? .head : .get, "/\(first)"))
            if kind != "split" { server.sendUnasked() }
            let next = number / firsts.count
            let outcome = await service.outcome(ServiceRequest(next.isMultiple(of: 2) ? .get : .post, "/"))

            #expect(outcome.hasPrefix("200 hello at "), "\(first)")
        }
    }
}
#endif
