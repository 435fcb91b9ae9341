#if canImport(FoundationNetworking)
import Foundation
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// Behaviour of the transports on Linux where the environment names a proxy. Each test asks in a process of its own: the
/// environment is shared by the whole process.
@Suite("Over each transport, a proxy of the environment", .fewAtOnce, .overEachTransport, .timeLimit(.ample))
struct PlatformProxyTests {
    @Test("a proxy gets plain requests, also for this machine, unless excepted")
    func environment() async throws {
        try await withServers { proxy, origin in
            let (proxy, origin) = (proxy.url.absoluteString, origin.url("/a").absoluteString)
            await #expect(processExitsWith: .success) {
                [proxy = proxy as String, origin = origin as String, isCurl = Self.isCurl as Bool] in
                let environments: [([String: String], String)] = [
                    ([:], "origin"), (["http_proxy": proxy], "proxy"), (["all_proxy": proxy], "proxy"),
                    // What a client of a CGI program could set by a header.
                    (["HTTP_PROXY": proxy], "origin"), (["https_proxy": proxy], "origin"),
                    (["http_proxy": proxy, "no_proxy": "127.0.0.1"], "origin"),
                    (["http_proxy": proxy, "NO_PROXY": "x,127.0.0.1"], "origin"),
                    (["http_proxy": proxy, "no_proxy": "*"], "origin"),
                    (["http_proxy": proxy, "no_proxy": "example.com"], "proxy"),
                    // Nobody listens there, and nobody else is asked.
                    (["http_proxy": "http://127.0.0.1:1"], "unreachable"),
                ]
                for (environment, answerer) in environments {
                    Self.set(environment)
                    let outcome = await Self.outcome(at: origin, isCurl)
                    #expect(outcome == answerer, "\(environment.keys.sorted())")
                }
            }
        }
    }

    @Test("a proxy gets the whole request, and its credentials stay there")
    func told() async throws {
        try await withServers { proxy, origin in
            let (address, direct) = ("http://ada:s3cret@127.0.0.1:\(proxy.port)", origin.url("/a").absoluteString)
            await #expect(processExitsWith: .success) {
                [address = address as String, direct = direct as String, isCurl = Self.isCurl as Bool] in
                Self.set(["http_proxy": address, "no_proxy": "127.0.0.1"])
                // A name that is nobody's: only the proxy could find it.
                let outcomes = (
                    await Self.outcome(at: "http://origin.invalid/a%2Fb?c=d", isCurl),
                    await Self.outcome(at: direct, isCurl)
                )
                #expect(outcomes == ("proxy", "origin"))
            }
            let request = try await proxy.waitForRequest()
            #expect(request.target == "http://origin.invalid/a%2Fb?c=d")
            #expect(request.headers["Host"] == "origin.invalid" && request.headers["Authorization"] == "Bearer token")
            #expect(request.headers["Proxy-Authorization"] == "Basic YWRhOnMzY3JldA==")
            let other = try await origin.waitForRequest()
            #expect(other.headers["Proxy-Authorization"] == nil && other.headers["Authorization"] == "Bearer token")
        }
    }

    @Test("a proxy gets only the host of an encrypted request")
    func tunnel() async throws {
        try await withServers { proxy, _ in
            let address = proxy.url.absoluteString
            await #expect(processExitsWith: .success) { [address = address as String, isCurl = Self.isCurl as Bool] in
                Self.set(["https_proxy": address])
                let outcome = await Self.outcome(at: "https://origin.invalid/a?b=c", isCurl)
                #expect(outcome == (isCurl ? "unreachable" : "truncated"))
            }
            let request = try await proxy.waitForRequest()
            #expect(request.method.name == "CONNECT" && request.target == "origin.invalid:443")
            #expect(request.headers["Authorization"] == nil && request.headers["Proxy-Authorization"] == nil)
            #expect(proxy.requests.count == 1)
        }
    }

    @Test("a proxy's challenge is returned as a response")
    func unknownUser() async throws {
        try await withServers { proxy, _ in
            proxy.on(
                .get, "/a", answer: .text("who?", status: 407).header("Proxy-Authenticate", "Basic realm=\"x\""))
            let address = proxy.url.absoluteString
            await #expect(processExitsWith: .success) { [address = address as String, isCurl = Self.isCurl as Bool] in
                Self.set(["http_proxy": address])
                let outcome = await Self.outcome(at: "http://origin.invalid/a", isCurl)
                #expect(outcome == "who?")
            }
            #expect(proxy.requests.count == 1)
        }
    }

    @Test("a redirect through a proxy drops secrets of the first origin")
    func redirect() async throws {
        try await withServers { proxy, _ in
            proxy.on(.get, "/a", answer: .redirect(to: "http://other.invalid/b", status: 302))
            let address = proxy.url.absoluteString
            await #expect(processExitsWith: .success) { [address = address as String, isCurl = Self.isCurl as Bool] in
                Self.set(["http_proxy": address])
                let url = try #require(URL(string: "http://origin.invalid"))
                let service = HTTPService(
                    configuration: ServiceConfiguration(baseURL: url, idleTimeout: .patient),
                    transport: Self.transport(isCurl).shared)
                let request = ServiceRequest(.get, "/a", headers: ["Authorization": "Bearer token"])
                let outcome = await service.outcome(request)
                #expect(outcome == "200 proxy")
            }
            let requests = proxy.requests
            #expect(requests.map(\.target) == ["http://origin.invalid/a", "http://other.invalid/b"])
            #expect(requests.map { $0.headers["Authorization"] } == ["Bearer token", nil])
        }
    }

    /// Runs a test with a proxy that answers every request itself, but for tunnels, and with an origin.
    private func withServers(_ body: (_ proxy: LoopbackServer, _ origin: LoopbackServer) async throws -> Void)
        async throws
    {
        try await LoopbackServer.run { proxy in
            try await LoopbackServer.run { origin in
                proxy.on(nil, "*", answer: .text("proxy"))
                proxy.on("CONNECT", "*", answer: .status(403))
                origin.on(nil, "*", answer: .text("origin"))
                try await body(proxy, origin)
            }
        }
    }

    /// For the child, which doesn't know of the parent's task.
    private static var isCurl: Bool { TestTransport.current == .curl }

    private static func transport(_ isCurl: Bool) -> TestTransport { isCurl ? .curl : .urlSession }

    /// Runs in the child: what comes from an address, with a secret in the header, or what goes wrong.
    private static func outcome(at address: String, _ isCurl: Bool) async -> String {
        guard let url = URL(string: address) else { return "no address" }
        let request = TransportRequest(.get, url, headers: ["Authorization": "Bearer token"])
        do {
            // A new one each time, with no connection that is open already.
            let response = try await transport(isCurl).made().send(request)
            return String(decoding: try await response.body.all(), as: UTF8.self)
        } catch {
            return (error as? TransportFault).map { "\($0.kind)" } ?? "\(error)"
        }
    }

    /// Runs in the child: an environment with these proxies, and with no others.
    private static func set(_ environment: [String: String]) {
        for scheme in ["http", "https", "all", "no"] {
            for name in ["\(scheme)_proxy", "\(scheme)_proxy".uppercased()] {
                if let value = environment[name] { setenv(name, value, 1) } else { unsetenv(name) }
            }
        }
    }
}
#endif
