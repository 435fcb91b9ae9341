import Foundation
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// What URLSession does about redirects on its own, and this transport doesn't.
@Suite("Over URLSession, a redirect", .timeLimit(.ample))
struct PlatformRedirectTests {
    @Test("is an answer with status, Location and body, which nobody follows", arguments: [301, 302, 303, 307, 308])
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

    @Test("takes no secret along to another origin, and everything else")
    func secrets() async throws {
        try await withServer { server, service in
            try await withServer { other, _ in
                server.on(.get, "/a", answer: .redirect(to: "\(other.url("/b"))"))
                other.on(.get, "/b", answer: .text("end"))
                let headers: ServiceHeaders = [
                    "Authorization": "s", "Proxy-Authorization": "s", "Cookie": "s=1", "X-API-Key": "s", "X-Plain": "1",
                ]

                let response = try await service.request(ServiceRequest(.get, "/a", headers: headers))

                #expect(response.text == "end" && response.url == other.url("/b"))
                let first = try await server.nextRequest().headers
                let names: [ServiceHeaders.Name] = ["Authorization", "Cookie", "X-API-Key", "X-Plain"]
                #expect(names.map { first[$0] } == ["s", "s=1", "s", "1"])
                let second = try await other.nextRequest().headers
                #expect(second["X-Plain"] == "1")
                for name in ["Authorization", "Proxy-Authorization", "Cookie", "X-API-Key"] {
                    #expect(second[.init(name)] == nil)
                }
            }
        }
    }

    @Test("keeps the method and the whole body where it is to", arguments: [307, 308])
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
                    let request = try await server.nextRequest()
                    #expect(request.path == path && request.method == .put && request.text == text)
                    #expect(request.headers[.contentLength] == "\(text.utf8.count)")
                }
            }
        }
    }

    @Test("that needs a body again which can be read once fails, and says so")
    func usedUp() async throws {
        try await withServer { server, service in
            server.redirect(through: ["/a", "/b"], status: 307)
            let body = RequestBody.stream(HTTPBytes(Data("once".utf8)))

            let error = await service.error(ServiceRequest(.post, "/a", body: body))
            guard case .redirect(.bodyIsUsedUp) = error?.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(server.requests.map(\.path) == ["/a"])
        }
    }

    @Test(
        "leaves HEAD what it is, and makes POST a GET without a body", arguments: [("HEAD", "HEAD"), ("POST", "GET")])
    func seeOther(method: ServiceRequest.Method, next: ServiceRequest.Method) async throws {
        try await withServer { server, service in
            server.redirect(through: ["/a", "/b"], status: 303)
            server.on(nil, "/b", answer: .text("end"))

            _ = try await service.request(ServiceRequest(method, "/a", body: method == .post ? .text("x") : nil))

            #expect(try await server.nextRequest().method == method)
            let second = try await server.nextRequest()
            #expect(second.method == next && second.bodyLength == 0 && second.headers[.contentType] == nil)
        }
    }

    @Test(
        "leads to where its address stands, escapes and all",
        arguments: [
            ("b", "/v1/users/b"), ("../b", "/v1/b"), ("/b%2Fc", "/b%2Fc"), ("?q=%20", "/v1/users/a?q=%20"),
        ])
    func addresses(location: String, target: String) async throws {
        try await withServer { server, service in
            server.on(.get, "/*") { request in
                request.target == "/v1/users/a" ? .redirect(to: location) : .text("end")
            }

            _ = try await service.request(ServiceRequest(.get, "/v1/users/a"))

            #expect(server.requests.map(\.target) == ["/v1/users/a", target])
        }
    }

    @Test("to anything but HTTP isn't followed", arguments: ["file:///etc/passwd", "data:text/plain,x", "ftp://h/x"])
    func schemes(location: String) async throws {
        try await withServer { server, service in
            server.on(.get, "/a", answer: .redirect(to: location))

            let error = await service.error()
            guard case .redirect(.scheme) = error?.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(error?.status == 302)
        }
    }
}
