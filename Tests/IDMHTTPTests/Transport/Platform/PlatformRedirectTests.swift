import Foundation
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// What URLSession does about redirects on its own, and this transport doesn't.
@Suite("Over URLSession, a redirect", .fewAtOnce, .timeLimit(.ample))
struct PlatformRedirectTests {
    @Test("a redirect is returned with status, Location and body", arguments: [301, 302, 303, 307, 308])
    func handedOver(status: Int) async throws {
        try await withServer { server, _ in
            server.on(.get, "/a", answer: .text("over there", status: status).header("Location", "/b?x=%2F#f"))

            let response = try await URLSessionTransport.shared.get(server.url("/a"))

            #expect(response.status == status && response.headers[.location] == "/b?x=%2F#f")
            #expect(try await response.body.all() == Data("over there".utf8))
            #expect(server.requests.count == 1)
        }
    }

    @Test("without an address is an answer too", arguments: [300, 302, 304, 305])
    func withoutAddress(status: Int) async throws {
        try await withServer { server, _ in
            server.on(.get, "/a", answer: .status(status).header("X-A", "1"))

            let response = try await URLSessionTransport.shared.get(server.url("/a"))

            #expect(response.status == status && response.headers["X-A"] == "1")
            #expect(try await response.body.all().isEmpty)
        }
    }

    @Test("a redirect that keeps the method keeps the whole body", arguments: [307, 308])
    func bodies(status: Int) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("f", "in a file")
        let bodies: [(RequestBody, String)] = [
            (.text("in memory"), "in memory"), (.file(file), "in a file"),
            (.stream(HTTPBytes(Data("in pieces".utf8)), isReplayable: true), "in pieces"),
        ]
        for (body, text) in bodies {
            try await withServer { server, service in
                server.redirect(through: ["/a", "/b"], status: status)
                server.on(.put, "/b", answer: .text("end"))

                _ = try await service.request(ServiceRequest(.put, "/a", body: body))

                for path in ["/a", "/b"] {
                    let request = try await server.waitForRequest()
                    #expect(request.path == path && request.method == .put && request.text == text)
                    #expect(request.headers[.contentLength] == "\(text.utf8.count)")
                }
            }
        }
    }
}
