import Foundation
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A link that the server gave", .timeLimit(.ample))
struct LinkTests {
    private func link(_ text: String) throws -> URL { try #require(URL(string: text)) }

    @Test(
        "an absolute or relative link is followed",
        arguments: [
            ("https://h/v1/users?page=2", "https://h/v1/users?page=2"), ("https://H:443/other", "https://H:443/other"),
            ("/users?page=2", "https://h/users?page=2"), ("users", "https://h/users"),
            ("?page=2", "https://h/v1?page=2"),
            ("https://h/a%2Fb?q=%2B", "https://h/a%2Fb?q=%2B"), ("//h/x", "https://h/x"),
        ])
    func followed(text: String, url: String) throws {
        let configuration = try api("https://h/v1")
        #expect(try configuration.resolve(ServiceRequest(link: link(text))).url.absoluteString == url)
    }

    @Test("a link adds query and header, without the base query")
    func query() throws {
        let configuration = try api("https://h/v1?key=k", headers: ["A": "1"])
        let resolved = try configuration.resolve(
            ServiceRequest(.head, link: link("https://h/u?page=2"), query: ["q": "a b"], headers: ["B": "2"]))
        #expect(resolved.url.absoluteString == "https://h/u?page=2&q=a%20b")
        #expect(resolved.method == .head && resolved.headers == ["A": "1", "B": "2"])
        let plain = try configuration.resolve(ServiceRequest(link: link("https://h/u"), query: ["q": 1]))
        #expect(plain.url.absoluteString == "https://h/u?q=1")
    }

    @Test(
        "leads nowhere else, and no way up",
        arguments: [
            ("https://other/a", .foreignLink("https://other")), ("http://h/a", .foreignLink("http://h")),
            ("https://h:8443/a", .foreignLink("https://h:8443")), ("//other/a", .foreignLink("https://other")),
            ("https://user:secret@h/a", .link(reason: "holds a user or a password")),
            ("ftp://h/a", .link(reason: "has the scheme “ftp”, which is neither http nor https")),
            ("https://h/a#f", .link(reason: "has a fragment")),
            ("https://h/v1/../users", .link(reason: "has a segment “.” or “..” in its path")),
        ] as [(String, ServiceRequest.Fault)])
    func refused(text: String, fault: ServiceRequest.Fault) throws {
        let configuration = try api("https://h/v1")
        #expect(throws: fault) { try configuration.resolve(ServiceRequest(link: link(text))) }
        #expect(!fault.description.contains("secret"))
    }

    @Test("a link with a base is resolved against it")
    func ownBase() throws {
        let configuration = try api("https://h/v1")
        let next = try #require(URL(string: "42?token=s3cret", relativeTo: link("https://h/v2/users/")))
        let own = ServiceRequest(link: next, query: ["q": 1])
        #expect(try configuration.resolve(own).url.absoluteString == "https://h/v2/users/42?token=s3cret&q=1")
        #expect("\(own)" == "GET https://h/v2/users/42?token=<redacted>&q=1")
        let foreign = try #require(URL(string: "/a", relativeTo: link("https://other/b")))
        #expect(throws: ServiceRequest.Fault.foreignLink("https://other")) {
            try configuration.resolve(ServiceRequest(link: foreign))
        }
        // One that has no origin either.
        let half = try #require(URL(string: "c", relativeTo: link("/a/b")))
        #expect(try configuration.resolve(ServiceRequest(link: half)).url.absoluteString == "https://h/a/c")
    }

    @Test("a link has no path parameters")
    func parameters() throws {
        var request = ServiceRequest(link: try link("https://h/a"))
        request.pathParameters = ["id": "1"]
        #expect(throws: ServiceRequest.Fault.unusedParameters(["id"], template: "")) {
            try api("https://h").resolve(request)
        }
    }

    @Test("a link is shown without secrets")
    func shown() throws {
        let request = ServiceRequest(link: try link("https://u:p@h/a?token=s3cret&page=2"), query: ["q": 1])
        #expect("\(request)" == "GET https://<redacted>@h/a?token=<redacted>&page=2&q=1")
        #expect("\(ServiceRequest(link: try link("//ada:s3cret@h/next")))" == "GET //<redacted>@h/next")
    }
}
