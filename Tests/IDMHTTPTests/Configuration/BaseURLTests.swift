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
            ("holds a user or a password", ["https://user:pass@h", "https://user@h"]),
            ("has the scheme “ftp”, which is neither http nor https", ["ftp://h"]),
            ("has the scheme “file”, which is neither http nor https", ["file:///etc/passwd"]),
            ("has the scheme “data”, which is neither http nor https", ["data:text/plain,x"]),
            ("has no host, or isn't a URL", ["https://", "/v1", "https:///v1"]),
            ("has a fragment", ["https://h/#f"]),
            ("has a segment “.” or “..” in its path", ["https://h/a/../b", "https://h/%2e%2e/b"]),
        ])
    func refused(reason: String, bases: [String]) throws {
        for base in bases {
            let configuration = try api(base)
            #expect(throws: ServiceRequest.Fault.baseURL(reason: reason)) { try configuration.url("/a") }
        }
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
