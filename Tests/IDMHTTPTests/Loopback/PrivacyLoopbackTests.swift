import Foundation
import IDMCore
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("Privacy, with a real server", .fewAtOnce, .overEachTransport, .timeLimit(.ample))
struct PrivacyLoopbackTests {
    /// A request with a secret in every place that is one.
    private var request: ServiceRequest {
        var headers: ServiceHeaders = [
            "Cookie": "s3cret=s3cret", "X-API-Key": "s3cret", "Proxy-Authorization": "s3cret", "X-Auth-Token": "s3cret",
        ]
        headers.setSecret("X-Mine", "s3cret")
        return ServiceRequest(
            .post, "/a", query: ["access_token": "s3cret", "sig": "s3cret", "page": 1], headers: headers,
            body: .json(["password": "s3cret", "name": "Ada"]))
    }

    @Test(
        "logs and errors of a request contain no secrets",
        arguments: [
            .text("hello").header("Set-Cookie", "s3cret=1").header("X-Token", "s3cret"), .status(404),
            .json(#"{"token":"s3cret"}"#, status: 500), .text("token=s3cret&b=1", status: 400), .hangUp, .reset,
            .text("hello").cut(at: .body(2)), .redirect(to: "/b?token=s3cret"),
            .redirect(to: "http://s3cret:s3cret@h/"),
            .redirect(to: "file:///s3cret"), .status(401).header("WWW-Authenticate", "Basic realm=\"x\""),
            .text("x").gzipped(damaged: true), .text(String(repeating: "x", count: 3_000)),
        ] as [LoopbackServer.Answer])
    func told(answer: LoopbackServer.Answer) async throws {
        try await withServer { server, service in
            server.on(nil, "/*", answer: answer)
            let told = Observed<[String]>([])
            let tell: @Sendable (String) -> Void = { text in told.change { $0.append(text) } }
            var service = service
            service.configuration.limits.body = 2_000
            service.configuration.limits.redirects = 2
            service.interceptors = [
                EventLogInterceptor { tell("\($0)") }, RetryInterceptor(1, delay: .none), LoggingInterceptor(log: tell),
                LoggingInterceptor(.curl, log: tell),
                AuthenticationInterceptor(BearerAuthenticator(), for: server.url, credential: "s3cret"),
                LoggingInterceptor(.curl, log: tell),
            ]
            do {
                let response = try await service.request(request)
                Self.tellAll(response, tell)
            } catch {
                Self.tellAll(error, tell)
                if let error = error as? HTTPError, let response = error.response { Self.tellAll(response, tell) }
            }
            Self.tellAll(request, tell)
            tell(try request.curl(for: service.configuration))
            #expect(told.value.count > 10)
            for text in told.value { #expect(!text.contains("s3cret"), "\(text)") }
            // And all of it was sent.
            let sent = try #require(server.requests.first)
            #expect(sent.query?.contains("access_token=s3cret") == true)
            for name: ServiceHeaders.Name in ["Cookie", "X-API-Key", "X-Mine", .authorization] {
                #expect(sent.headers[name]?.contains("s3cret") == true, "\(name)")
            }
            #expect(sent.text.contains("s3cret"))
        }
    }

    /// Everything that printing a value could show.
    private static func tellAll(_ value: some Sendable, _ tell: (String) -> Void) {
        var dumped = ""
        dump(value, to: &dumped)
        tell(dumped)
        tell("\(value)")
        tell(String(reflecting: value))
        if let error = value as? any Error { tell(error.localizedDescription) }
    }
}
