import Foundation
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("Redirects, of a real server", .fewAtOnce, .overEachTransport, .timeLimit(.ample))
struct RedirectLoopbackTests {
    @Test(
        "Method and body go along as RFC 9110 has it",
        arguments: [
            (301, "GET", "GET"), (302, "GET", "GET"), (303, "GET", "GET"), (307, "GET", "GET"), (308, "GET", "GET"),
            (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (307, "POST", "POST body"),
            (308, "POST", "POST body"), (301, "PUT", "PUT body"), (303, "PUT", "GET"), (307, "PUT", "PUT body"),
            (303, "DELETE", "GET"), (303, "HEAD", "HEAD"), (302, "HEAD", "HEAD"),
        ])
    func methods(status: Int, method: String, expected: String) async throws {
        try await withServer { server, service in
            server.on(nil, "/a", answer: .redirect(to: "/b", status: status))
            server.on(nil, "/b", answer: .text("end"))
            let method = ServiceRequest.Method(method)
            let body: RequestBody? = method == .post || method == .put ? .text("body") : nil
            let response = try await service.request(ServiceRequest(method, "/a", body: body))
            #expect(response.body == Data((method == .head ? "" : "end").utf8))
            #expect(response.url == server.url("/b"))
            let last = try #require(server.requests.last)
            #expect("\(last.method) \(last.text)".trimmingCharacters(in: .whitespaces) == expected)
            #expect((last.headers[.contentType] != nil) == expected.hasSuffix("body"))
        }
    }

    @Test("secrets don't follow redirects to other hosts and back")
    func secrets() async throws {
        try await withServer { server, service in
            try await LoopbackServer.run { other in
                let named = "http://localhost:\(server.port)/named"
                server.on(.get, "/a", answer: .redirect(to: "/same"))
                server.on(.get, "/same", answer: .redirect(to: other.url("/b").absoluteString))
                other.on(.get, "/b", answer: .redirect(to: named))
                server.on(.get, "/named", answer: .redirect(to: server.url("/back").absoluteString))
                server.on(.get, "/back", answer: .text("end"))
                var headers: ServiceHeaders = [
                    "Authorization": "s3cret", "Cookie": "s3cret=1", "X-API-Key": "s3cret",
                    "Proxy-Authorization": "s3cret", "Accept": "x/y",
                ]
                headers.setSecret("X-Mine", "s3cret")
                let response = try await service.request(ServiceRequest(.get, "/a", headers: headers))
                #expect(response.body == Data("end".utf8))
                let requests = server.requests + other.requests
                for request in requests {
                    let head = String(decoding: request.head, as: UTF8.self)
                    let isSameOrigin = ["/a", "/same"].contains(request.target)
                    #expect(head.contains("s3cret") == isSameOrigin, "\(request.target)")
                    #expect(request.headers[.accept] == "x/y")
                }
                #expect(requests.count == 5)
            }
        }
    }

    @Test("ten redirects are followed, the eleventh is an error")
    func many() async throws {
        try await withServer { server, service in
            let chain = (0...21).map { "/\($0)" }
            server.redirect(through: Array(chain.suffix(11)))
            server.on(.get, "/21", answer: .text("end"))
            #expect(await service.outcome(ServiceRequest(.get, "/11")) == "200 end")
            server.redirect(through: chain)
            #expect(await service.outcome(ServiceRequest(.get, "/0")) == "redirect comes after 10 others")
            #expect(server.requests.count == 11 + 11)
            // A route that nobody asks is a failure.
            for request in 11..<21 { _ = await service.outcome(ServiceRequest(.get, "/\(request)")) }
            server.redirect(through: ["/here", "/there", "/here"])
            #expect(await service.outcome(ServiceRequest(.get, "/here")) == "redirect comes after 10 others")
        }
    }

    @Test(
        "A Location is resolved against the request's own URL",
        arguments: [
            ("c", "/a/c"), ("../c", "/c"), ("/c%2Fd", "/c%2Fd"), ("?q=%20", "/a/b?q=%20"), ("c#f", "/a/c"),
            ("./c/./d", "/a/c/d"), (" /c ", "/c"),
        ])
    func relative(location: String, target: String) async throws {
        try await withServer { server, service in
            server.on(.get, "/*") { $0.target == "/a/b" ? .redirect(to: location) : .text("end") }
            #expect(await service.outcome(ServiceRequest(.get, "/a/b")) == "200 end")
            #expect(server.requests.map(\.target) == ["/a/b", target])
        }
    }

    @Test(
        "an invalid Location is an error with its response",
        arguments: [
            ("", "redirect leads to no address"), ("http://", "redirect leads to no address"),
            ("http://[", "redirect leads to no address"),
            ("file:///etc/passwd", "redirect leads to the scheme “file”"),
            ("data:text/plain,x", "redirect leads to the scheme “data”"),
            ("ftp://127.0.0.1/", "redirect leads to the scheme “ftp”"),
            ("mailto:a@b", "redirect leads to the scheme “mailto”"),
            ("http://user:s3cret@127.0.0.1/", "redirect holds a user or a password"),
        ])
    func refused(location: String, reason: String) async throws {
        try await withServer { server, service in
            server.on(.get, "/a", answer: .redirect(to: location, status: 307))
            let error = try #require(await service.error())
            #expect(error.reason.words == reason)
            #expect(error.status == 307)
            #expect(!"\(error)".contains("s3cret"))
            #expect(server.requests.count == 1)
        }
    }

    @Test("a redirect without Location or under handOver is a response")
    func handedOver() async throws {
        try await withServer { server, service in
            server.on(.get, "/a", answers: [.status(302), .redirect(to: "/b")])
            var service = service
            service.rules = [.accept([302])]
            #expect(try await service.request(ServiceRequest(.get, "/a")).status == 302)
            service.configuration.redirects = .handOver
            let response = try await service.request(ServiceRequest(.get, "/a"))
            #expect(response.headers[.location] == "/b")
        }
    }

    @Test("a replayable body follows 307, a one-shot body doesn't")
    func bodies() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("f", "from a file")
        try await withServer { server, service in
            server.on(.put, "/a", answer: .redirect(to: "/b", status: 307))
            server.on(.put, "/b", answer: .text("end"))
            func put(_ body: RequestBody) async -> String {
                await service.outcome(ServiceRequest(.put, "/a", body: body))
            }
            let stream = AsyncStream<Data> { continuation in
                continuation.yield(Data("once".utf8))
                continuation.finish()
            }
            let parts = MultipartBody([.file("f", file)])
            #expect(await put(.bytes(Data("bytes".utf8))) == "200 end")
            #expect(await put(.file(file)) == "200 end")
            #expect(await put(.multipart(parts)) == "200 end")
            #expect(
                await put(.stream(HTTPBytes(stream))) == "redirect needs the body again, which can be read once only")
            let bodies = server.requests.map { "\($0.target) \($0.text.contains("from a file") ? "file" : $0.text)" }
            #expect(
                bodies == ["/a bytes", "/b bytes", "/a file", "/b file", "/a file", "/b file", "/a once"])
        }
    }

    @Test("a refresh token never reaches a different origin", arguments: [307, 308])
    func refreshRedirected(status: Int) async throws {
        try await withServer { server, service in
            try await LoopbackServer.run { other in
                server.on(.get, "/a", answer: .status(401))
                server.on(.post, "/token", answer: .redirect(to: other.url("/token").absoluteString, status: status))
                var service = service
                service.configuration.redirects.sendsBodiesToOtherOrigins = true
                service.interceptors = [AuthenticationInterceptor.refreshing(for: server.url, credential: "old")]
                _ = await service.outcome()
                #expect(server.requests.map(\.text) == ["", "old"] && other.requests.isEmpty)
            }
        }
    }

    @Test("a replayed request is redirected like the first")
    func replay() async throws {
        try await withServer { server, service in
            try await LoopbackServer.run { other in
                server.on(.put, "/a") { request in
                    request.headers[.authorization] == "Bearer new"
                        ? .redirect(to: other.url("/b").absoluteString, status: 307) : .status(401)
                }
                server.on(.post, "/token", answer: .text("new"))
                other.on(.put, "/b", answer: .text("end"))
                var service = service
                service.configuration.redirects.sendsBodiesToOtherOrigins = true
                service.interceptors = [AuthenticationInterceptor.refreshing(for: server.url, credential: "old")]
                let request = ServiceRequest(.put, "/a", body: .text("body"))
                #expect(await service.outcome(request) == "200 end")
                #expect(server.requests.map(\.text) == ["body", "old", "body"])
                #expect(other.requests.map(\.text) == ["body"])
                #expect(other.requests.first?.headers[.authorization] == nil)
            }
        }
    }
}
