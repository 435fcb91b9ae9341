import Foundation
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("Injection, before a real server", .fewAtOnce, .overEachTransport, .timeLimit(.ample))
struct InjectionLoopbackTests {
    private static let line = "x\r\nX-Injected: 1"

    @Test(
        "an injection is refused before anything is sent",
        arguments: [
            ServiceRequest(ServiceRequest.Method("GET /x HTTP/1.1\r\nX: y\r\n\r\nGET"), "/a"),
            ServiceRequest("GE\0T", "/a"), ServiceRequest("", "/a"), ServiceRequest("GET ", "/a"),
            ServiceRequest(.get, "/a", headers: ["X-A\r\nX-Injected": "1"]),
            ServiceRequest(.get, "/a", headers: ["X A": "1"]), ServiceRequest(.get, "/a", headers: ["": "1"]),
            ServiceRequest(.get, "/a", headers: ["X:": "1"]), ServiceRequest(.get, "/a", headers: ["X-Ä": "1"]),
            ServiceRequest(.get, "/a", headers: ["X-A": line]),
            ServiceRequest(.get, "/a", headers: ["X-A": "a\r\n folded"]),
            ServiceRequest(.get, "/a", headers: ["X-A": "a\nb"]), ServiceRequest(.get, "/a", headers: ["X-A": "a\rb"]),
            ServiceRequest(.get, "/a", headers: ["X-A": "a\0b"]), ServiceRequest(.get, "/a", headers: ["X-A": "é"]),
            ServiceRequest(.get, "/a", headers: ["Cookie": line]),
            ServiceRequest(.get, "/a", headers: ["Host": "elsewhere"]),
            ServiceRequest(.post, "/a", headers: ["Content-Length": "5"], body: .text("hello")),
            ServiceRequest(.post, "/a", headers: ["transfer-encoding": "chunked"], body: .text("hello")),
            ServiceRequest(.get, "/a", headers: ["Connection": "upgrade"]),
            ServiceRequest(.post, "/a", body: .bytes(Data(), contentType: line)),
            ServiceRequest(
                .post, "/a", body: .multipart([.data("n", Data(), fileName: "f", contentType: line)])),
            ServiceRequest(.get, "/a\r\nX-Injected: 1"), ServiceRequest(.get, "/a\0"), ServiceRequest(.get, "/a?b#c"),
        ])
    func refused(request: ServiceRequest) async throws {
        try await withServer { server, service in
            #expect(await service.outcome(request) == "bad request")
            #expect(server.journal.connectionCount == 0)
        }
    }

    @Test("escapable characters arrive unchanged in their place")
    func escaped() async throws {
        try await withServer { server, service in
            server.on(nil, "/*", answer: .status(200))
            let value = "\(Self.line)\0"
            _ = try await service.request(
                ServiceRequest(.get, "/{v}", pathParameters: ["v": value], query: ["q": value]))
            let escaped = "x%0D%0AX-Injected%3A%201%00"
            let request = try await server.waitForRequest()
            #expect(request.target == "/\(escaped)?q=\(escaped)")
            #expect(request.headers["X-Injected"] == nil)
        }
    }

    @Test("request headers arrive as they were written")
    func header() async throws {
        try await withServer { server, service in
            server.on(.put, "/a", answer: .status(200))
            let headers: ServiceHeaders = ["X-b": "1", "Accept": "x/y", "X-Empty": "", "X-B": "2", "X-Tab": "a\tb"]
            _ = try await service.request(ServiceRequest(.put, "/a", headers: headers, body: .text("hello")))
            let request = try await server.waitForRequest()
            #expect(request.headers["X-B"]?.replacing(" ", with: "") == "1,2")
            #expect(request.headers["Accept"] == "x/y")
            #expect(request.headers["X-Tab"] == "a\tb")
            #expect(request.headers["X-Empty"] == "")
            #expect(request.headers[.contentLength] == "5")
            #expect(request.headers["Host"] == "127.0.0.1:\(server.port)")
            #expect(request.headers.values(of: .contentType) == ["text/plain; charset=utf-8"])
        }
    }

    @Test(
        "a multipart body arrives with exactly its parts",
        arguments: [
            "a\"b", "a\\b", "a\r\nX-Injected: 1", "é👩‍🚀", String(repeating: "n", count: 1 << 16), "\0",
            "\"; filename=\"x",
        ])
    func multipart(name: String) async throws {
        try await withServer { server, service in
            server.on(.post, "/a", answer: .status(200))
            let contents = ["--", "\r\n--idm-", "\r\n\r\n--\r\n--", name]
            let body = MultipartBody(
                contents.map { .data(name, Data($0.utf8), fileName: name, contentType: "x/y; a=\"b\"") })
            _ = try await service.request(ServiceRequest(.post, "/a", body: .multipart(body)))
            let request = try await server.waitForRequest()
            let type = try #require(request.headers[.contentType])
            #expect(type == "multipart/form-data; boundary=\(body.boundary)")
            var parts = "\r\n\(request.text)".components(separatedBy: "\r\n--\(body.boundary)")
            #expect(parts.removeFirst() == "")
            #expect(parts.removeLast() == "--\r\n")
            for (part, content) in zip(parts, contents) {
                let end = try #require(part.firstRange(of: "\r\n\r\n"))
                let lines = part[..<end.lowerBound].components(separatedBy: "\r\n")
                #expect(lines.count == 3 && lines[0].isEmpty && lines[2] == "Content-Type: x/y; a=\"b\"")
                #expect(lines[1].utf8.count { $0 == UInt8(ascii: "\"") } == 4)
                #expect(part[end.upperBound...] == content)
            }
            #expect(parts.count == contents.count)
        }
    }
}
