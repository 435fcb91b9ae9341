import Foundation
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A URLSessionTransport with a configuration", .fewAtOnce, .timeLimit(.ample))
struct SessionConfigurationTests {
    /// Answers for the network.
    private final class Answering: URLProtocol {
        override class func canInit(with request: URLRequest) -> Bool { true }
        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
        override func stopLoading() {}

        override func startLoading() {
            guard let url = request.url,
                let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: [:])
            else { return }
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            client?.urlProtocol(self, didLoad: Data("stub".utf8))
            client?.urlProtocolDidFinishLoading(self)
        }
    }

    @Test("uses the protocol classes of the configuration")
    func protocolClasses() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Answering.self]
        let transport = URLSessionTransport(configuration: configuration)

        let response = try await HTTPService(configuration: try api(), transport: transport)
            .request(ServiceRequest(.get, "/a"))

        #expect(response.text == "stub")
    }

    @Test("overrides cookies, caches, headers and time-outs, and keeps the connection limit")
    func overrides() {
        let configuration = URLSessionConfiguration.default
        configuration.httpAdditionalHeaders = ["Authorization": "s3cret"]
        configuration.timeoutIntervalForRequest = 1
        configuration.httpMaximumConnectionsPerHost = 3

        let used = TransportSession.restricted(configuration)

        #expect(used.httpCookieStorage == nil && used.urlCache == nil && used.urlCredentialStorage == nil)
        #expect(used.httpAdditionalHeaders == nil && used.timeoutIntervalForRequest > 1_000)
        #expect(used.httpMaximumConnectionsPerHost == 3 && configuration.timeoutIntervalForRequest == 1)
    }
}
