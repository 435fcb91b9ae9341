import Foundation
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A name and a password", .timeLimit(.ample))
struct BasicAuthenticatorTests {
    @Test(
        "stand in the header as RFC 7617 has them",
        arguments: [
            ("ada", "pass", "Basic YWRhOnBhc3M="), ("ada", "", "Basic YWRhOg=="), ("é", "ü", "Basic w6k6w7w="),
            ("ada", "a:b", "Basic YWRhOmE6Yg=="),
        ])
    func basic(user: String, password: String, header: String) throws {
        var request = ServiceRequest(.get, "/")
        try BasicAuthenticator().authorize(&request, with: .init(user: user, password: password))

        #expect(request.headers[.authorization] == header)
    }

    @Test(
        "an unusable credential is refused",
        arguments: [
            ("a:b", "c"), ("", ""), ("a\0", "b"), ("a", "b\n"),
            // A server ends the name there all the same.
            ("a:\u{301}b", "c"), ("a\u{D4E}:b", "c"),
        ])
    func badBasic(user: String, password: String) {
        var request = ServiceRequest(.get, "/")

        #expect(throws: AuthenticationError.self) {
            try BasicAuthenticator().authorize(&request, with: .init(user: user, password: password))
        }
        #expect(request.headers.isEmpty)
    }

    @Test("show no password")
    func passwords() {
        let credential = BasicAuthenticator.Credential(user: "ada", password: "s3cret")
        var dumped = ""
        dump(credential, to: &dumped)

        #expect(![dumped, "\(credential)", String(reflecting: credential)].contains { $0.contains("s3cret") })
    }
}

@Suite("A key in a header of its own", .timeLimit(.ample))
struct HeaderAuthenticatorTests {
    @Test("a header credential is never logged or sent to another origin")
    func secret() async throws {
        let lines = Observed<[String]>([])
        let transport = ScriptedTransport { request in
            request.url.host == "h" ? .text("", status: 307, headers: ["Location": "https://other/"]) : .text("end")
        }
        let service = try HTTPService(
            transport,
            interceptors: [
                AuthenticationInterceptor(
                    HeaderAuthenticator("X-Tenant"), for: #require(URL(string: "https://h")), credential: "s3cret"),
                LoggingInterceptor(.curl) { line in lines.change { $0.append(line) } },
            ])

        #expect(try await service.request(ServiceRequest(.get, "/")).text == "end")
        #expect(transport.asked.map { $0.headers["X-Tenant"] } == ["s3cret", nil])
        #expect(lines.value.count == 2 && !lines.value.joined().contains("s3cret"))
        #expect(lines.value.first?.contains("X-Tenant: <redacted>") == true)
    }
}

@Suite("A scheme of one's own", .timeLimit(.ample))
struct OwnAuthenticatorTests {
    /// Puts a key to where it is told, as anybody's scheme may.
    private struct Scheme: Authenticator {
        let put: @Sendable (inout ServiceRequest, String) -> Void

        func authorize(_ request: inout ServiceRequest, with key: String) throws { put(&request, key) }
        func refresh(_ key: String, next: InterceptorChain) async throws -> String {
            throw AuthenticationError.notRefreshable
        }
    }

    @Test(
        "headers that an authenticator changes are secret",
        arguments: [
            { $0.headers["X-Acme"] = $1 }, { $0.headers.add("Accept", $1) }, { $0.headers["Accept"] = $1 },
            { $0.query["k"] = $1 }, { $0.query.add("page", [$1]) }, { $0.query["page"] = $1 },
        ] as [@Sendable (inout ServiceRequest, String) -> Void])
    func secret(put: @escaping @Sendable (inout ServiceRequest, String) -> Void) async throws {
        let lines = Observed<[String]>([])
        let transport = ScriptedTransport { request in
            request.url.host == "h"
                ? .text("", status: 307, headers: ["Location": "https://other/?\(request.url.query ?? "")"])
                : .text("", status: 500)
        }
        let service = try HTTPService(
            transport,
            interceptors: [
                EventLogInterceptor { log in lines.change { $0.append("\(log)") } },
                AuthenticationInterceptor(
                    Scheme(put: put), for: #require(URL(string: "https://h")), credential: "s3cret"),
                LoggingInterceptor(.curl) { line in lines.change { $0.append(line) } },
            ])
        let request = ServiceRequest(.get, "/", query: ["page": 1, "all": 1], headers: ["Accept": "x", "B": "c"])

        let error = await service.error(request)
        let (first, last) = try (#require(transport.asked.first), #require(transport.asked.last))
        #expect("\(first.headers.map(\.value)) \(first.url)".contains("s3cret") && last.url.host == "other")
        #expect(last.headers["B"] == "c" && !last.headers.contains { $0.value == "s3cret" })
        for text in lines.value + ["\(first)", "\(last)", "\(String(describing: error))"] {
            #expect(!text.contains("s3cret"), "\(text)")
        }
        // And nothing else is.
        #expect(lines.value.joined().contains("all=1") && lines.value.joined().contains("B: c"))
    }
}
