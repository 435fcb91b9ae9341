import Foundation
import IDMHTTPTesting
import IDMTesting
import Synchronization
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("Cookies", .fewAtOnce, .timeLimit(.ample))
struct ServiceCookiesTests {
    private let time = Time()
    private let cookies: ServiceCookies

    private final class Time: Sendable {
        private let seconds = Atomic(1_000_000)
        var now: Int { seconds.load(ordering: .relaxed) }
        func pass(_ count: Int) { seconds.add(count, ordering: .relaxed) }
    }

    init() {
        cookies = ServiceCookies { [time] in time.now }
    }

    private func set(_ fields: String..., from address: String = "https://h/a/b") throws {
        let url = try #require(URL(string: address))
        let headers = ServiceHeaders(fields.map { ServiceHeaders.Field(.setCookie, $0) })
        cookies.take(headers, from: url, generation: cookies.header(for: url).generation)
    }

    private func header(_ address: String = "https://h/a/b") throws -> String? {
        cookies.header(for: try #require(URL(string: address))).value
    }

    @Test("cookies return to their own origin only")
    func origins() throws {
        try set("id=1; Domain=h.example; Path=/", from: "https://h.example/")
        #expect(try header("https://H.example:443/x") == "id=1")
        for other in ["http://h.example/", "https://h.example:8443/", "https://sub.h.example/", "https://example/"] {
            #expect(try header(other) == nil, "\(other)")
        }
        try set("id=2; Domain=example", from: "https://h.other/")
        try set("id=3; Domain=h.other", from: "https://xh.other/")
        #expect(try header("https://h.other/") == nil && header("https://xh.other/") == nil)
    }

    @Test(
        "cookies apply to their path and below",
        arguments: [
            ("Path=/", "/a", true), ("Path=/a", "/a", true), ("Path=/a", "/a/x", true), ("Path=/a", "/ab", false),
            ("Path=/a/", "/a/x", true), ("Path=/a/", "/a", false), ("", "/a/x", true), ("", "/b", false),
            ("Path=a", "/a/x", true), ("Path=/x; Path=/y", "/y", true),
        ])
    func paths(attribute: String, path: String, isSent: Bool) throws {
        try set("id=1; \(attribute)")
        #expect(try header("https://h\(path)") == (isSent ? "id=1" : nil))
    }

    @Test("end a part at its sign, whatever is drawn on top of that")
    func marks() throws {
        try set("id=1; Path=/;\u{301}x", "old=1; Path=/")
        try set("old=1; Path=/; Max-Age=0;\u{301}x", "new=1; Path=/; Max-Age\u{D4E}=0")
        #expect(try header("https://h/") == "id=1; new=1")
    }

    @Test("come with those of longer paths first, and the older ones before the newer")
    func order() throws {
        try set("a=1; Path=/", "b=2; Path=/a", "c=3; Path=/")
        #expect(try header() == "b=2; a=1; c=3")
        try set("a=4; Path=/")
        #expect(try header() == "b=2; a=4; c=3")
    }

    @Test("last as long as they may, and a past end removes them")
    func ages() throws {
        try set(
            "a=1; Max-Age=10", "b=2; Max-Age=20; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "c=3; max-age=x",
            "d=4; Expires=Tue, 13-Jan-1970 00:00:00 GMT", "e=5; Max-Age=9223372036854775807")
        try set("f=6; Max-Age=99999999999999999999", "g=7; Max-Age=-99999999999999999999", "h=8; Max-Age=+5")
        #expect(try header()?.hasSuffix("; f=6; h=8") == true)
        try set("f=; Max-Age=-1", "h=; Max-Age=0")
        #expect(try header() == "a=1; b=2; c=3; d=4; e=5")
        time.pass(10)
        #expect(try header() == "b=2; c=3; d=4; e=5")
        try set("b=; Max-Age=0", "c=; Expires=Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(try header() == "d=4; e=5")
        time.pass(100_000)
        #expect(try header() == "e=5")
    }

    @Test(
        "an invalid or forbidden cookie isn't stored",
        arguments: [
            "", "id", "=1", "a b=1", "id=a\u{1}b", "a,b=1", "id=\(String(repeating: "x", count: 4_096))",
            "__Host-id=1; Secure", "__Host-id=1; Secure; Path=/; Domain=h", "__Secure-id=1", "id=1; Domain=other",
            "id\r=1", "id=1\n2",
        ])
    func refused(field: String) throws {
        try set(field)
        #expect(try header() == nil)
    }

    @Test("secure cookies and prefixes follow their rules")
    func secure() throws {
        try set("id=1; Secure", from: "http://h/a/b")
        try set("__Host-id=1; Secure; Path=/", "__Secure-x=2; secure")
        #expect(try header("http://h/a/b") == nil)
        #expect(try header() == "__Secure-x=2; __Host-id=1")
    }

    @Test("have bounds")
    func bounds() throws {
        for number in 0..<60 { try set("c\(number)=1; Path=/") }
        let url = try #require(URL(string: "https://h/"))
        #expect(cookies.names(for: url) == (10..<60).map { "c\($0)" })
        for number in 0..<20 { try set("id=1", from: "https://h\(number)/") }
        #expect(cookies.names(for: url).isEmpty)
        #expect("\(cookies)" == "20 cookies")
        var text = ""
        dump(cookies, to: &text)
        #expect(!text.contains("id"))
    }

    @Test("a response to a request before removal sets no cookies")
    func removed() throws {
        let url = try #require(URL(string: "https://h/"))
        let before = cookies.header(for: url).generation
        try set("id=1; Path=/")
        cookies.removeAll()
        cookies.take(["Set-Cookie": "id=2"], from: url, generation: before)
        #expect(cookies.names(for: url).isEmpty)
    }

    @Test(
        "keep every name and value that RFC 6265 lets a browser keep",
        arguments: ["cart[1]=1", "a:b=1", "AMCV_1@Org=1", "{id}=1", "id=é", "naïve=1", "id=a\tb", "id=a,b"])
    func oddNames(cookie: String) throws {
        try set(cookie)
        #expect(try header() == cookie)
    }

    @Test("of the own origin survive redirects over more origins than are kept")
    func manyOrigins() async throws {
        let jar = ServiceCookies()
        var service = try HTTPService(
            ScriptedTransport { request in
                let number = Int(request.url.host()?.dropFirst() ?? "") ?? 0
                let cookie: ServiceHeaders = ["Set-Cookie": "id=\(number)"]
                guard number < 22 else { return .text("end", headers: cookie) }
                return .text(
                    "", status: 302, headers: cookie.merging(["Location": "https://h\(number + 1)/"]))
            })
        service.configuration.cookies = jar
        service.configuration.limits.redirects = 30
        _ = try await service.request(ServiceRequest(.get, "/a"))
        #expect(jar.names(for: service.configuration.baseURL.appending(path: "a")) == ["id"])
    }

    @Test("each service stores its own cookies")
    func service() async throws {
        try await withServer { server, service in
            let other = try LoopbackServer()
            server.on(.get, "/in", answer: .text("x").header("Set-Cookie", "id=1; Path=/"))
            server.on(.get, "/away", answer: .status(302).header("Location", other.url("/there").absoluteString))
            server.on(.get, "/a") { .text($0.headers[.cookie] ?? "none") }
            other.on(.get, "/there") { .text($0.headers[.cookie] ?? "none") }
            func cookie(_ service: HTTPService, _ path: String = "/a", headers: ServiceHeaders = [:]) async throws
                -> String
            {
                try await service.request(ServiceRequest(.get, path, headers: headers)).text
            }
            _ = try await service.request(ServiceRequest(.get, "/in"))
            #expect(try await cookie(service) == "none")

            var asking = service
            asking.configuration.cookies = ServiceCookies()
            _ = try await asking.request(ServiceRequest(.get, "/in"))
            #expect(try await cookie(asking) == "id=1")
            #expect(try await cookie(asking, headers: ["Cookie": "own=2"]) == "own=2")
            #expect(try await cookie(asking, "/away") == "none")
            #expect(try await cookie(service) == "none")
            asking.configuration.cookies?.removeAll()
            #expect(try await cookie(asking) == "none")
        }
    }
}
