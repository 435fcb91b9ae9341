import Foundation
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A redirect", .timeLimit(.ample))
struct RedirectTests {
    private func next(
        _ location: String, from url: String = "https://h/a/b?x=1", status: Int = 302,
        method: ServiceRequest.Method = .get, headers: ServiceHeaders = [:], body: RequestBody.Encoded? = nil,
        hops: Int = 0, policy: RedirectPolicy = .follow
    ) throws -> TransportRequest? {
        let request = TransportRequest(method, try #require(URL(string: url)), headers: headers, body: body)
        return try policy.request(after: request, status: status, headers: ["location": location], hops: hops)
    }

    @Test(
        "leads to its Location, seen from where it is",
        arguments: [
            ("https://h/c", "https://h/c"), ("/c", "https://h/c"), ("c", "https://h/a/c"), ("../c", "https://h/c"),
            ("?y=2", "https://h/a/b?y=2"), ("//other/c", "https://other/c"), ("c%2Fd%3F", "https://h/a/c%2Fd%3F"),
            ("/c?q=%2B+%26#part", "https://h/c?q=%2B+%26"), (" /c ", "https://h/c"), ("/é x", "https://h/%C3%A9%20x"),
            ("HTTPS://Other:443/c", "HTTPS://Other:443/c"), ("https://[::1]:8443/c", "https://[::1]:8443/c"),
        ])
    func targets(location: String, url: String) throws {
        #expect(try next(location)?.url.absoluteString == url)
    }

    @Test(
        "a redirect to an impossible address is refused",
        arguments: [
            ("", .noAddress), ("/b, /c", .noAddress), ("https://", .noAddress), ("https:///x", .noAddress),
            ("file:///etc/passwd", .scheme("file")),
            ("data:text/plain,x", .scheme("data")), ("javascript:alert(1)", .scheme("javascript")),
            ("https://user:s3cret@h/", .userInfo), ("https://user@h/", .userInfo), ("http://h/", .insecure),
        ] as [(String, RedirectPolicy.Fault)])
    func refused(location: String, fault: RedirectPolicy.Fault) {
        #expect(throws: fault) { try next(location) }
    }

    @Test("a redirect from https to http needs permission")
    func downgrade() throws {
        #expect(try next("http://h/", policy: .followInsecurely)?.url.absoluteString == "http://h/")
        #expect(try next("https://h/", from: "http://h/")?.url.absoluteString == "https://h/")
        #expect(try next("/c", from: "http://h/")?.url.absoluteString == "http://h/c")
    }

    @Test(
        "changes method and body as RFC 9110 has it",
        arguments: [
            (301, "GET", "GET", false), (301, "POST", "GET", false), (301, "PUT", "PUT", true),
            (301, "HEAD", "HEAD", false),
            (302, "POST", "GET", false), (302, "DELETE", "DELETE", true), (302, "PATCH", "PATCH", true),
            (303, "POST", "GET", false), (303, "PUT", "GET", false), (303, "HEAD", "HEAD", false),
            (303, "GET", "GET", false),
            (307, "POST", "POST", true), (307, "PUT", "PUT", true), (307, "GET", "GET", false),
            (308, "POST", "POST", true), (308, "HEAD", "HEAD", false),
        ])
    func methods(status: Int, method: String, expected: String, keepsBody: Bool) throws {
        let hasBody = !["GET", "HEAD"].contains(method)
        let request = try next(
            "/c", status: status, method: .init(method),
            headers: ["Content-Type": "text/plain", "content-language": "en", "Accept": "x"],
            body: hasBody ? .init(Data("body".utf8)) : nil)

        #expect(request?.method.name == expected)
        #expect(request?.body?.data == (keepsBody ? Data("body".utf8) : nil))
        let changed = status == 303 && method != "HEAD" || method == "POST" && status < 303
        #expect(request?.headers.map(\.value) == (changed ? ["x"] : ["text/plain", "en", "x"]))
    }

    @Test("only a replayable body is kept")
    func bodies() throws {
        let folder = try TemporaryFolder()
        let file = try RequestBody.file(folder.file("f", "content")).encoded()
        let once = try RequestBody.stream(HTTPBytes(Data())).encoded()

        #expect(try next("/c", status: 307, method: .put, body: file)?.body?.length == 7)
        #expect(throws: RedirectPolicy.Fault.bodyIsUsedUp) { try next("/c", status: 307, method: .put, body: once) }
        #expect(throws: RedirectPolicy.Fault.bodyIsUsedUp) { try next("/c", status: 302, method: .put, body: once) }
        #expect(try next("/c", status: 303, method: .post, body: once)?.body == nil)
    }

    private static let secrets: ServiceHeaders = [
        "Authorization": "s", "Proxy-Authorization": "s", "Cookie": "s", "X-API-Key": "s", "x-auth-token": "s",
        "Accept": "x",
    ]

    @Test(
        "secrets aren't sent to a different origin",
        arguments: [
            "https://other/", "https://h:8443/", "https://www.h/", "//other/", "https://h.evil/",
        ])
    func crossOrigin(location: String) throws {
        #expect(try next(location, headers: Self.secrets)?.headers == ["Accept": "x"])
    }

    @Test("only locating keys are sent to a different origin")
    func plainKeys() throws {
        let plain: ServiceHeaders = [
            "Partition-Key": "a", "X-Sort-Key": "b", "Idempotency-Key": "c", "Surrogate-Key": "d", "Cache-Key": "e",
            "partitionKey": "f", "X-rowLookupKey": "g", "idempotencyKey": "h",
        ]
        let keys: ServiceHeaders = [
            "Ocp-Apim-Subscription-Key": "s", "X-Functions-Key": "s", "X_Parse_Master_Key": "s", "X-Client-Key": "s",
            "DD-Application-Key": "s", "X-Auth-Key": "s", "Api-Key": "s", "X-RapidAPI-Key": "s", "Access-Key": "s",
            "X-Acme-Key": "s", "Key": "s", "subscriptionKey": "s", "X-appKey": "s", "clientKey": "s", "SSHKey": "s",
        ]
        #expect(try next("https://other/", headers: plain.merging(keys))?.headers == plain)
    }

    @Test("fields marked as secret aren't sent to a different origin")
    func ownSecrets() throws {
        var headers: ServiceHeaders = ["X-Tenant": "s", "X-Shop": "s", "Accept": "x"]
        headers.setSecret("X-Tenant", "s")
        let request = TransportRequest(.get, try #require(URL(string: "https://h/")), headers: headers)
        func next(_ location: String) throws -> ServiceHeaders? {
            try RedirectPolicy.follow.request(
                after: request, status: 302, headers: ["Location": location], hops: 0,
                secrets: .standard.adding(["x-shop"]))?.headers
        }

        #expect(try next("https://other/") == ["Accept": "x"])
        #expect(try next("/c") == headers)
    }

    @Test("fields with secret names or addresses stay at the origin")
    func secretNames() throws {
        let plain: ServiceHeaders = ["Accept": "x", "Referer": "https://h/?page=1"]
        let secret: ServiceHeaders = [
            "X-JWT": "s", "X-OTP": "s", "X-GitHub-OTP": "s", "X-Pass": "s", "X-PIN": "s", "X-Sid": "s", "X-Bearer": "s",
            "X-DPoP": "s", "Authentication": "s", "X-Ticket": "s", "X-Back": "https://h/?token=s",
        ]
        #expect(try next("https://other/", headers: plain.merging(secret))?.headers == plain)
        #expect(try next("https://other/", headers: ["Referer": "https://h/?code=s"])?.headers == [:])
    }

    @Test("a body leaves its origin only by policy", arguments: [301, 302, 307, 308])
    func foreignBodies(status: Int) throws {
        let body = RequestBody.Encoded(Data("password=s".utf8))
        var policy = RedirectPolicy.follow
        #expect(throws: RedirectPolicy.Fault.bodyToOtherOrigin) {
            try next("https://other/", status: status, method: .put, body: body, policy: policy)
        }
        policy.sendsBodiesToOtherOrigins = true
        #expect(
            try next("https://other/", status: status, method: .put, body: body, policy: policy)?.body?.length == 10)
        #expect(try next("/c", status: status, method: .put, body: body)?.body?.length == 10)
        #expect(try next("https://other/", status: 303, method: .put, body: body)?.body == nil)
    }

    @Test("secrets aren't sent to a different scheme")
    func crossScheme() throws {
        #expect(try next("https://h/", from: "http://h/", headers: Self.secrets)?.headers == ["Accept": "x"])
        #expect(
            try next("http://h/", headers: Self.secrets, policy: .followInsecurely)?.headers == ["Accept": "x"])
    }

    @Test("to the same origin keeps them", arguments: ["/c", "https://H:443/c", "https://h/"])
    func sameOrigin(location: String) throws {
        #expect(try next(location, headers: Self.secrets)?.headers == Self.secrets)
    }

    @Test("ten redirects are followed at most")
    func hops() throws {
        #expect(try next("/c", hops: 9) != nil)
        #expect(throws: RedirectPolicy.Fault.tooMany(limit: 10)) { try next("/c", hops: 10) }
    }

    @Test(
        "a response without Location or under handOver isn't a redirect",
        arguments: [
            200, 201, 300, 304, 305, 306, 309, 399, 404,
        ])
    func none(status: Int) throws {
        #expect(try next("/c", status: status) == nil)
        #expect(try next("/c", status: 302, policy: .handOver) == nil)
        let request = TransportRequest(.get, try #require(URL(string: "https://h/")))
        #expect(try RedirectPolicy.follow.request(after: request, status: 302, headers: [:], hops: 0) == nil)
    }

    @Test("with two Locations leads nowhere")
    func twoLocations() throws {
        let request = TransportRequest(.get, try #require(URL(string: "https://h/")))
        let headers: ServiceHeaders = ["Location": "/a", "Location": "/b"]

        #expect(throws: RedirectPolicy.Fault.noAddress) {
            try RedirectPolicy.follow.request(after: request, status: 302, headers: headers, hops: 0)
        }
    }
}
