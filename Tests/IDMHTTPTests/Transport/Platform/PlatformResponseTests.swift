import Foundation
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The treatment of responses that URLSession and libcurl have by themselves, and that the transports turn off.
@Suite("Over each transport, a response", .fewAtOnce, .overEachTransport, .timeLimit(.ample))
struct PlatformResponseTests {
    private func fault(_ body: () async throws -> Void) async -> TransportFault.Kind? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? TransportFault)?.kind
        }
    }

    @Test(
        "a challenge is returned with its body",
        arguments: [
            "Basic realm=\"x\"", "Basic", "Bearer", "Negotiate", "Digest realm=\"x\", nonce=\"y\"", "Odd a=b", "Odd",
        ])
    func unauthorized(challenge: String) async throws {
        try await withServer { server, service in
            server.on(.get, "/a", answer: .text("who are you?", status: 401).header("WWW-Authenticate", challenge))

            let error = await service.error()

            #expect(error?.status == 401 && error?.response?.text == "who are you?")
            #expect(error?.response?.headers["WWW-Authenticate"] == challenge)
            #expect(server.requests.count == 1)
        }
    }

    @Test("of a proxy that asks for a user comes with its body")
    func proxy() async throws {
        try await withServer { server, service in
            server.on(.get, "/a", answer: .text("no", status: 407).header("Proxy-Authenticate", "Basic realm=\"x\""))
            #expect(await service.error()?.response?.text == "no")
        }
    }

    @Test("a response header is found in any spelling")
    func names() async throws {
        try await withServer { server, service in
            server.on(.get, "/a", answer: .text("x").headers(["ETag": "\"1\"", "x-lower": "2", "X-UPPER": "3"]))
            let headers = try await service.request(ServiceRequest(.get, "/a")).headers
            #expect(headers[.eTag] == "\"1\"" && headers["X-Lower"] == "2" && headers["x-upper"] == "3")
        }
    }

    @Test("cookies are separate, and repeated fields are joined")
    func repeatedFields() async throws {
        let cookies = [
            "a=1", "b=2; Expires=Wed, 21 Oct 2030 07:28:00 GMT; Path=/", "c=x,y", "d=", "e=1,f=2; Path=/",
            "h=\"1, i=2\"; Path=/", "cart[1]=1; Max-Age=0", "k", "m=\"1", "n=2",
        ]
        try await withServer { server, service in
            let answer = LoopbackServer.Answer.text("x").header("X-A", "1").header("X-A", "2")
            server.on(.get, "/a", answer: cookies.reduce(answer) { $0.header("Set-Cookie", $1) })
            let headers = try await service.request(ServiceRequest(.get, "/a")).headers
            #expect(headers.values(of: "Set-Cookie") == cookies)
            #expect(headers["X-A"]?.replacing(" ", with: "") == "1,2")
        }
    }

    @Test("a header byte outside UTF-8 is Latin-1, or a fault")
    func bytesInHeader() async throws {
        try await withServer { server, service in
            server.on(.get, "/a", answer: .text("x").header("X-A", bytes: Data([0x63, 0xE9])))
            // FoundationNetworking refuses the response.
            let expected = TestTransport.current == .curl ? "200 x" : "malformed"
            #expect(await service.outcome() == expected)
        }
    }

    @Test("with a header that is too large is a fault with a name", arguments: [(1, 200_000), (2_000, 200), (40, 100)])
    func largeHeader(count: Int, length: Int) async throws {
        try await withServer { server, service in
            let fields = (0..<count).map {
                ServiceHeaders.Field(.init("X-\($0)"), String(repeating: "a", count: length))
            }
            server.on(.get, "/a", answer: .text("x").headers(ServiceHeaders(fields)))
            var service = service
            service.configuration.limits.header = count * length - 1

            let error = await service.error()
            guard case .headerTooLarge(let limit) = error?.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(limit <= count * length)
        }
    }

    @Test("a truncated response is a fault after its bytes")
    func truncated() async throws {
        let answers: [LoopbackServer.Answer] = [
            .text("0123456789").cut(at: .body(4)), .text("0123456789").reset(at: .body(4)),
            .text("0123456789").announcing(length: 20), .text("0123456789").chunked(by: 3).cut(at: .body(4)),
        ]
        for answer in answers {
            try await withServer { server, _ in
                server.on(.get, "/a", answer: answer)
                let kind = await fault {
                    let response = try await TestTransport.current.shared.get(server.url("/a"))
                    #expect(response.status == 200)
                    var come = Data()
                    for try await piece in response.body {
                        come += piece
                        #expect(Data("0123456789".utf8).starts(with: come))
                    }
                }
                // A reset may overtake the header.
                #expect(kind == .truncated || kind == .lost)
            }
        }
    }

    @Test("an invalid response is a fault")
    func none() async throws {
        let answers: [(LoopbackServer.Answer, TransportFault.Kind)] = [
            (.hangUp, .lost), (.raw("NOT HTTP AT ALL\r\n\r\n"), .malformed), (.text("x").cut(at: .head(10)), .lost),
        ]
        for (answer, kind) in answers {
            try await withServer { server, _ in
                server.on(.get, "/a", answer: answer)
                let found = await fault { _ = try await TestTransport.current.shared.get(server.url("/a")) }
                #expect(found == kind)
            }
        }
    }

    @Test("a missing server is a fault")
    func unreachable() async throws {
        // A port that the system gives to nobody who asks for any. That of a server which is gone may be another one's
        // by now.
        let nobody = try #require(URL(string: "http://127.0.0.1:1/a"))
        #expect(await fault { _ = try await TestTransport.current.shared.get(nobody) } == .unreachable)
    }

    @Test("an unpacked body has no expected length")
    func packed() async throws {
        try await withServer { server, service in
            server.on(.get, "/a", answer: .text("unpacked").gzipped())
            let stream = try await service.open(ServiceRequest(.get, "/a"))
            #expect(stream.length == nil)
            #expect(try await stream.bytes.all() == Data("unpacked".utf8))
        }
    }

    @Test("a body beyond the limit closes the connection")
    func tooLarge() async throws {
        let large = LoopbackServer.Resource(length: 8 << 20)
        try await withServer { server, service in
            server.on(.get, "/a", answer: .resource(large).chunked().waiting(for: TestGate(), at: .body(4 << 20)))
            var service = service
            service.configuration.limits.body = 1 << 20

            let error = await service.error()
            #expect(error?.reason.description == "The body is larger than 1048576 bytes.")
            try await server.waitUntil { $0.connections.allSatisfy(\.isClosed) }
        }
    }

    @Test("the system's cache is never used")
    func noCache() async throws {
        try await withServer { server, service in
            var service = service
            service.configuration.cache = nil
            server.on(
                .get, "/a", answer: .text("x").headers(["Cache-Control": "public, max-age=3600", "ETag": "\"1\""]))
            for policy in [.standard, .reload, .cacheElseLoad] as [ServiceRequest.CachePolicy] {
                _ = try await service.request(ServiceRequest(.get, "/a", cachePolicy: policy))
            }
            #expect(server.requests.count == 3)
            #expect(server.requests.allSatisfy { $0.headers["If-None-Match"] == nil })
            let error = await service.error(ServiceRequest(.get, "/a", cachePolicy: .cacheOnly))
            guard case .transport(let fault as TransportFault) = error?.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(fault.kind == .notCached && server.requests.count == 3)
        }
    }

    @Test("leaves no cookie behind, here or for the rest of the process")
    func noCookies() async throws {
        try await withServer { server, service in
            server.on(.get, "/a", answer: .text("x").header("Set-Cookie", "idm=1; Path=/"))
            for _ in 0..<2 { _ = try await service.request(ServiceRequest(.get, "/a")) }
            #expect(server.requests.allSatisfy { $0.headers["Cookie"] == nil })
            #expect(HTTPCookieStorage.shared.cookies(for: server.url)?.isEmpty != false)
        }
    }

    #if canImport(FoundationNetworking)
    @Test("takes along no cookie that the process shares")
    func noSharedCookies() async throws {
        try await withServer { server, _ in
            server.on(.get, "/a", answer: .text("x"))
            let folder = try TemporaryFolder()
            let (address, home) = (server.url("/a").absoluteString, folder.url.path)
            // In a process of its own: what is shared belongs to everybody, and is on a disk.
            await #expect(processExitsWith: .success) { [address = address as String, home = home as String] in
                setenv("XDG_DATA_HOME", home, 1)
                let url = try #require(URL(string: address))
                let cookie = HTTPCookie(properties: [.name: "idm", .value: "1", .path: "/", .domain: "127.0.0.1"])
                HTTPCookieStorage.shared.setCookie(try #require(cookie))
                // A session that asks for no other storage sends it.
                let session = URLSession(configuration: .default)
                _ = try await withCheckedThrowingContinuation { continuation in
                    session.dataTask(with: url) { _, response, error in
                        continuation.resume(
                            with: response.map { .success($0) } ?? .failure(error ?? URLError(.unknown)))
                    }.resume()
                }
                _ = try await URLSessionTransport().send(TransportRequest(.get, url))
            }
            #expect(server.requests.map { $0.headers["Cookie"] } == ["idm=1", nil])
        }
    }
    #endif
}
