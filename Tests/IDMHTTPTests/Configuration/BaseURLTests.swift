import Foundation
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A base URL", .timeLimit(.ample))
struct BaseURLTests {
    @Test(
        "a base URL precedes path and query, with and without slashes",
        arguments: [
            ("https://h", "", "https://h/"), ("https://h", "/", "https://h/"), ("https://h/", "a", "https://h/a"),
            ("https://h", "/a", "https://h/a"), ("https://h/v1", "/a", "https://h/v1/a"),
            ("https://h/v1/", "/a", "https://h/v1/a"),
            ("https://h/v1/", "a/", "https://h/v1/a/"), ("https://h/v1//", "a", "https://h/v1/a"),
            ("https://h/v1", "", "https://h/v1"), ("https://h/v1?k=1", "/a", "https://h/v1/a?k=1&q=2"),
            ("https://h/?k=a%2Bb", "a", "https://h/a?k=a%2Bb&q=2"), ("https://h/%2Fv", "a", "https://h/%2Fv/a"),
            ("http://[::1]:8080/v1", "a", "http://[::1]:8080/v1/a"),
            ("https://H.Example:443/V1", "A", "https://h.example/V1/A"),
            ("HTTP://h:80", "a", "http://h/a"), ("http://h:8080", "a", "http://h:8080/a"),
        ])
    func joined(base: String, path: String, url: String) throws {
        let query: ServiceRequest.Query = base.contains("?") ? ["q": 2] : [:]

        #expect(try api(base).url(path, query: query) == url)
    }

    @Test(
        "an invalid base URL is refused",
        arguments: [
            ("https://user:pass@h", .userInfo), ("https://user@h", .userInfo), ("ftp://h", .scheme("ftp")),
            ("file:///etc/passwd", .scheme("file")), ("https://", .malformed), ("/v1", .malformed),
            ("https:///v1", .malformed),
            ("https://h/#f", .fragment), ("https://h/a/../b", .dotSegment), ("https://h/%2e%2e/b", .dotSegment),
            ("data:text/plain,x", .scheme("data")),
        ] as [(String, ServiceRequest.BaseURLFault)])
    func refused(base: String, fault: ServiceRequest.BaseURLFault) throws {
        let configuration = try api(base)
        #expect(throws: ServiceRequest.Fault.baseURL(fault)) { try configuration.url("/a") }
    }

    @Test(
        "stays the host that is asked, whatever the path is",
        arguments: ["@evil.example", ".evil.example", ":80@evil.example", "\\evil"])
    func hostStays(path: String) throws {
        if let url = try? api("https://h").url(path) {
            #expect(URL(string: url)?.host == "h")
        }
        #expect(URL(string: try api("https://h").url("/{v}", ["v": path]))?.host == "h")
    }

    @Test("an origin ignores case and the default port")
    func origins() throws {
        func origin(_ text: String) throws -> ServiceOrigin? { ServiceOrigin(try #require(URL(string: text))) }

        #expect(try origin("https://Example.com/a") == origin("HTTPS://example.com:443?b"))
        #expect(try origin("https://example.com") != origin("http://example.com"))
        #expect(try origin("https://example.com") != origin("https://example.com:8443"))
        #expect(try origin("https://example.com") != origin("https://www.example.com"))
        #expect(try origin("https://example.com:8443")?.description == "https://example.com:8443")
        #expect(try origin("https://[::1]:443")?.description == "https://[::1]")
        #expect(try origin("ftp://example.com") == nil)
        #expect(try origin("/a") == nil)
    }
}
