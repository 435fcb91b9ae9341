#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// On Linux a session never calls a method that a subclass of the class that conforms was the first to declare. Here
/// the test calls them as a session does, by the protocol: one that isn't the protocol's would be answered by the
/// protocol's own, which does nothing, or what nobody wants.
@Suite("Over URLSession, the delegate", .fewAtOnce, .timeLimit(.ample))
struct PlatformDelegateTests {
    private static let delegate = SessionDelegate()
    /// One that lives on, as that of a transport does.
    private static let session: URLSession = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }()
    private let log = Log()

    @Test("the session calls each delegate method of the protocol")
    func methods() async throws {
        try await withServer { server, _ in
            server.on(.get, "/a", answer: .never)
            let (exchange, head, task) = try await begin(server)
            let url = server.url("/a")
            let response = try #require(
                HTTPURLResponse(url: url, statusCode: 201, httpVersion: nil, headerFields: ["X-A": "1"]))
            let asked: any URLSessionDataDelegate = Self.delegate

            let cached = CachedURLResponse(response: response, data: Data())
            asked.urlSession(Self.session, dataTask: task, willCacheResponse: cached) {
                log.add($0 == nil ? "no cache" : "cache")
            }
            asked.urlSession(
                Self.session, task: task, willPerformHTTPRedirection: response, newRequest: URLRequest(url: url)
            ) { log.add($0 == nil ? "no redirect" : "redirect") }
            asked.urlSession(Self.session, task: task, didReceive: Self.challenge) { disposition, credential in
                log.add(disposition == .rejectProtectionSpace && credential == nil ? "no user" : "user")
            }
            asked.urlSession(
                Self.session, task: task, didSendBodyData: 3, totalBytesSent: 3, totalBytesExpectedToSend: 9)
            #expect(log.entries == ["no cache", "no redirect", "no user", "sent 3"])

            asked.urlSession(Self.session, dataTask: task, didReceive: response) {
                log.add($0 == .allow ? "allowed" : "stopped")
            }
            #expect(log.entries.last == "allowed")
            let found = try await head.value
            #expect(found.status == 201 && found.headers["X-A"] == "1")
            asked.urlSession(Self.session, dataTask: task, didReceive: Data("x".utf8))
            #expect(try await exchange.next(isolation: #isolation) == Data("x".utf8))
            asked.urlSession(Self.session, task: task, didCompleteWithError: nil)
            #expect(try await exchange.next(isolation: #isolation) == nil)
            task.cancel()
        }
    }

    @Test("a request for a new stream reports a lost connection")
    func newStream() async throws {
        try await withServer { server, _ in
            server.on(.get, "/a", answer: .never)
            let (_, head, task) = try await begin(server)
            let asked: any URLSessionDataDelegate = Self.delegate

            asked.urlSession(Self.session, task: task) { log.add($0 == nil ? "no stream" : "stream") }

            #expect(log.entries == ["no stream"])
            // What is lost is so by now, and can't be cancelled.
            head.cancel()
            let fault = await #expect(throws: TransportFault.self) { try await head.value }
            #expect(fault?.kind == .lost)
        }
    }

    /// An exchange with a server that has its request and never answers, so that the session has nothing to tell.
    private func begin(
        _ server: LoopbackServer
    ) async throws -> (SessionExchange, Task<SessionExchange.Head, any Error>, URLSessionDataTask) {
        let (url, log, made) = (server.url("/a"), log, Self.session.dataTask(with: server.url("/a")))
        var request = TransportRequest(.get, url)
        request.didSend = { count in if count > 0 { log.add("sent \(count)") } }
        let exchange = SessionExchange(
            request, .none, queues: SessionQueues(), task: { made },
            folder: FileManager.default.temporaryDirectory, didBegin: { Self.delegate.add($0, $1) })
        let head = Task { try await exchange.head() }
        try await server.waitUntil { $0.requestCount == 1 }
        return (exchange, head, made)
    }

    private static var challenge: URLAuthenticationChallenge {
        let space = URLProtectionSpace(
            host: "h", port: 80, protocol: "http", realm: "x", authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        return URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil, error: nil,
            sender: Nobody())
    }
}

/// Who is told of an answer to a challenge otherwise.
private final class Nobody: NSObject, URLAuthenticationChallengeSender {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
}
#endif
