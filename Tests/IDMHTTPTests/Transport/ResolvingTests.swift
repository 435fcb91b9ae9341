import Foundation
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A request is resolved", .timeLimit(.ample))
struct ResolvingTests {
    @Test("with the service's header below its own, and the body's type between them")
    func headers() throws {
        let service = try api(headers: ["Accept": "a", "Content-Type": "service", "X": "1"])

        let plain = try service.resolve(ServiceRequest(.post, "/", headers: ["accept": "b"]))
        #expect(plain.headers == ["Content-Type": "service", "X": "1", "accept": "b"])
        let json = try service.resolve(ServiceRequest(.post, "/", body: .json(["a": 1])))
        #expect(json.headers[.contentType] == "application/json")
        let own = try service.resolve(
            ServiceRequest(.post, "/", headers: ["content-type": "application/vnd.api+json"], body: .json(["a": 1])))
        #expect(own.headers.values(of: .contentType) == ["application/vnd.api+json"])
    }

    @Test("with its own time-out and cache policy before the service's")
    func own() throws {
        var service = try api()
        service.idleTimeout = .seconds(5)
        service.cachePolicy = .reload

        let plain = try service.resolve(ServiceRequest(.get, "/"))
        #expect(plain.timeout == .seconds(5) && plain.cachePolicy == .reload)
        let own = try service.resolve(ServiceRequest(.get, "/", idleTimeout: .seconds(1), cachePolicy: .cacheOnly))
        #expect(own.timeout == .seconds(1) && own.cachePolicy == .cacheOnly)
    }

    @Test(
        "an invalid method is refused",
        arguments: [
            ("", ""), ("GET /x HTTP/1.1\r\nX: y", "GET /x HTTP/1.1\r\nX: y"), ("G ET", "G ET"),
            ("CONNECT", "CONNECT"), ("connect", "CONNECT"), ("GÉT", "GÉT"),
        ])
    func methods(name: String, shown: String) throws {
        #expect(throws: ServiceRequest.Fault.method(shown.escapedForDescription())) {
            try api().resolve(ServiceRequest(.init(name), "/"))
        }
    }

    @Test(
        "valid methods are accepted, standard ones in one spelling",
        arguments: [
            ("GET", "GET"), ("PURGE", "PURGE"), ("purge", "purge"), ("M-SEARCH", "M-SEARCH"), ("get", "GET"),
            ("Post", "POST"), ("patch", "PATCH"),
        ])
    func goodMethods(name: String, sent: String) throws {
        #expect(try api().resolve(ServiceRequest(.init(name), "/")).method.name == sent)
    }

    @Test("a body is refused for a method without one")
    func bodies() throws {
        for method in [ServiceRequest.Method.get, .head] {
            #expect(throws: ServiceRequest.Fault.unexpectedBody(method)) {
                try api().resolve(ServiceRequest(method, "/", body: .text("x")))
            }
        }
        #expect(try api().resolve(ServiceRequest(.delete, "/", body: .text("x"))).body?.data == Data("x".utf8))
    }

    @Test("an invalid time-out is refused")
    func times() throws {
        for time in [Duration.zero, .seconds(-1)] {
            #expect(throws: ServiceRequest.Fault.time("idle time-out")) {
                try api().resolve(ServiceRequest(.get, "/", idleTimeout: time))
            }
            #expect(throws: ServiceRequest.Fault.time("total time-out")) {
                try api().resolve(ServiceRequest(.get, "/", totalTimeout: time))
            }
        }
    }

    @Test("secret path parameters are hidden after redirects")
    func secretsOfPath() throws {
        let parameters = ["token": "s3c ret", "sessionID": "s3c", "id": "42"]
        let request = try api().resolve(
            ServiceRequest(.get, "/reset/{token}/{id}/{sessionID}.json", pathParameters: parameters))

        #expect(request.description.hasSuffix("/reset/redacted/42/redacted.json"))
        #expect(String(reflecting: request).contains("s3c") == false)
        #expect(request.description(redacted: .none).hasSuffix("/reset/s3c%20ret/42/s3c.json"))
        let next = try RedirectPolicy.follow.request(
            after: request, status: 307, headers: ["Location": "https://s3c.example.org/a/s3c%20ret?from=s3c"], hops: 0)
        #expect(next?.description == "GET https://s3c.example.org/a/redacted?from=redacted")
    }

    @Test("methods know whether they are safe and repeatable")
    func idempotence() {
        let methods: [ServiceRequest.Method] = [.get, .head, .options, .put, .delete, .post, .patch, "purge"]

        #expect(methods.filter(\.isSafe) == [.get, .head, .options])
        #expect(methods.filter(\.isIdempotent) == [.get, .head, .options, .put, .delete])
    }
}
