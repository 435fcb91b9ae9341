import Foundation
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("URLs, before a real server", .fewAtOnce, .overEachTransport, .timeLimit(.ample))
struct URLLoopbackTests {
    @Test("A parameter arrives in its segment, escaped, whatever it is")
    func parameters() async throws {
        try await withServer { server, service in
            server.on(.get, "/users/{id}/end", answer: .status(200))
            let values = [
                "a/b", "?", "#", "%", "👩‍🚀", "already%20escaped", "%2e%2e", "a;b", "a b", "a+b", "...", "\\", "é",
                "\u{301}",
            ]
            for value in values {
                _ = try await service.request(ServiceRequest(.get, "/users/{id}/end", pathParameters: ["id": value]))
            }
            #expect(server.requests.map { $0.parameters["id"] } == values)
            #expect(server.requests.first?.target == "/users/a%2Fb/end")
        }
    }

    @Test("a query arrives with signs, repeats, empty values and nil")
    func queries() async throws {
        try await withServer { server, service in
            server.on(.get, "/a", answer: .status(200))
            let none: String? = nil
            let query: ServiceRequest.Query = [
                "s": "+ & = ; % # ?", "list": ["a", "b"], "same": 1, "same": 2, "empty": "", "nothing": none,
                "ü": "é",
            ]
            _ = try await service.request(ServiceRequest(.get, "/a", query: query))
            let request = try await server.waitForRequest()
            #expect(
                request.query
                    == "s=%2B%20%26%20%3D%20%3B%20%25%20%23%20%3F&list=a&list=b&same=1&same=2&empty=&%C3%BC=%C3%A9")
        }
    }
}
