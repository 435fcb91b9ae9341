import Foundation
import IDMHTTPTesting
import IDMTesting
import Testing

@testable import IDMHTTP

/// The transports of this system.
enum TestTransport: CaseIterable, Sendable {
    case curl, urlSession

    static let allCases: [TestTransport] = {
        #if os(Linux)
        [.curl, .urlSession]
        #else
        [.urlSession]
        #endif
    }()

    /// The transport of the test: one after the other in suites with ``OverEachTransport``, or else that of services,
    /// or URLSession with `IDM_TRANSPORT=urlSession`.
    @TaskLocal static var current: TestTransport = {
        let name = ProcessInfo.processInfo.environment["IDM_TRANSPORT"]
        return allCases.first { "\($0)" == name } ?? allCases[0]
    }()

    /// True if all of a request's body is in memory before it is sent, as over URLSession on Linux.
    var sendsFromMemory: Bool { Self.allCases.count > 1 && self == .urlSession }

    /// The one that services share.
    var shared: any HTTPTransport {
        #if os(Linux)
        if self == .curl, let transport = try? CurlTransport.shared() { return transport }
        #endif
        return URLSessionTransport.shared
    }

    /// One with connections of its own.
    func made(connectionsPerHost: Int = 6) throws -> any HTTPTransport {
        #if os(Linux)
        if self == .curl { return try CurlTransport(connectionsPerHost: connectionsPerHost) }
        #endif
        return URLSessionTransport(connectionsPerHost: connectionsPerHost)
    }
}

/// Runs each test of a suite once over each transport of this system.
struct OverEachTransport: TestTrait, SuiteTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        // A suite has no case.
        guard testCase != nil else { return try await function() }
        for transport in TestTransport.allCases {
            try await TestTransport.$current.withValue(transport) { try await function() }
        }
    }
}

extension Trait where Self == OverEachTransport {
    static var overEachTransport: Self { Self() }
}

/// Runs a test with a server, and with a service that asks it.
func withServer(
    _ body: (LoopbackServer, HTTPService) async throws -> Void
) async throws {
    try await TestScope.run {
        try await LoopbackServer.run { server in try await body(server, server.service()) }
    }
}

extension LoopbackServer {
    /// A service of this server, without a cache, in which equal requests would wait for each other.
    func service(_ path: String = "", interceptors: [any HTTPInterceptor] = []) -> HTTPService {
        var configuration = ServiceConfiguration(baseURL: url(path), idleTimeout: .patient)
        configuration.cache = nil
        return HTTPService(
            configuration: configuration, transport: TestTransport.current.shared, interceptors: interceptors)
    }
}

extension HTTPTransport {
    /// The response to a request of a server, as it comes.
    func get(_ url: URL) async throws -> TransportResponse { try await send(TransportRequest(.get, url)) }
}

extension HTTPService {
    /// What becomes of a request, in a few words: the status and the body, or the reason without them.
    func outcome(_ request: ServiceRequest = ServiceRequest(.get, "/a")) async -> String {
        do {
            let response = try await self.request(request)
            return "\(response.status) \(String(decoding: response.body, as: UTF8.self))"
        } catch let error as HTTPError {
            return error.reason.words
        } catch {
            return "\(error)"
        }
    }

    /// The different outcomes of concurrent equal requests.
    func outcomes(of request: ServiceRequest = ServiceRequest(.get, "/a"), count: Int) async -> Set<String> {
        await withTaskGroup(of: String.self) { group in
            for _ in 0..<count { group.addTask { await outcome(request) } }
            return await group.reduce(into: []) { $0.insert($1) }
        }
    }
}

/// Whatever was sent by the shared transport before would have come before what is sent now.
func expectNothingSent(to server: LoopbackServer) async throws {
    server.on(.get, "/end", answer: .text(""))
    _ = try await server.service().request(ServiceRequest(.get, "/end"))
    #expect(server.requests.map(\.target) == ["/end"] && server.journal.connectionCount == 1)
}

extension HTTPError.Reason {
    /// The reason in a few words, as a table of a test has it.
    var words: String {
        switch self {
        case .badRequest: "bad request"
        case .transport(let fault as TransportFault): "\(fault.kind)"
        case .transport(let error): "transport \(type(of: error))"
        case .timedOut(let limit): "timed out \(limit)"
        case .cancelled: "cancelled"
        case .status(let status): "status \(status)"
        case .rejected(let failure): "rejected \(failure)"
        case .decoding(let fault): "decoding \(fault.path)"
        case .tooLarge(let limit): "too large \(limit)"
        case .headerTooLarge: "header too large"
        case .redirect(let fault): "redirect \(fault)"
        }
    }
}

extension AuthenticationInterceptor where Scheme == BearerAuthenticator<String> {
    /// Bearer tokens, the next one of which `POST /token` answers with.
    static func refreshing(
        for url: URL, credential: String?, timeout: Duration = .patient, clock: any Clock<Duration> = ContinuousClock()
    ) -> AuthenticationInterceptor {
        let scheme = BearerAuthenticator<String>(token: { $0 }) { old, next in
            try await next(ServiceRequest(.post, "/token", body: .text(old))).text
        }
        return AuthenticationInterceptor(
            scheme, for: url, credential: credential, refreshTimeout: timeout, clock: clock)
    }
}
