import Foundation
import IDMCore
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("An HTTP error", .timeLimit(.ample))
struct HTTPErrorTests {
    private struct Leak: Error, CustomStringConvertible {
        var description: String { "s3cret" }
    }

    @Test(
        "shows no secrets, however it is shown",
        arguments: [
            .transport(Leak()),
            .transport(
                URLError(.cannotConnectToHost, userInfo: [NSURLErrorFailingURLErrorKey: "https://h/?key=s3cret"])),
            .decoding(.init(path: "token", reason: "r")), .status(401),
        ] as [HTTPError.Reason])
    func secrets(reason: HTTPError.Reason) {
        let response = ServiceResponse(status: 401, headers: ["Set-Cookie": "s3cret"], body: Data("s3cret".utf8))
        let request = ServiceRequest(.get, "/a", query: ["key": "s3cret"]).description
        let error = HTTPError(reason, request: request, response: response)
        var dumped = ""
        dump(error, to: &dumped)

        for text in ["\(error)", String(reflecting: error), dumped, "\(error.localizedDescription)", "\(response)"] {
            #expect(!text.contains("s3cret"))
        }
        #expect("\(error)".hasPrefix("GET /a?key=<redacted>: "))
    }

    @Test("stays on one line, whatever a server or a type calls its keys")
    func lines() {
        let decoding = HTTPError.DecodingFault(path: "a\n\u{1B}[31m.b", reason: "r")
        #expect("\(decoding)" == #"The body can't be read at a\n\u{1B}[31m.b: r."#)
        let encoding = RequestBody.Fault.encoding(path: "a\n\u{1B}[31m.b", reason: "r")
        #expect("\(encoding)" == #"The body can't be encoded at a\n\u{1B}[31m.b: r."#)
    }

    @Test("gives the failure that a rule found, as its type")
    func failures() {
        let error = HTTPError(.rejected(Leak()), request: "GET /")

        #expect(error.failure(as: Leak.self) != nil)
        #expect(error.failure(as: URLError.self) == nil)
        #expect(HTTPError(.status(1), request: "").failure(as: Leak.self) == nil)
        #expect(error.status == nil)
    }

    @Test("a router and failure(as:) find the API's own failure inside of other errors")
    @MainActor
    func routed() {
        struct APIFailure: Error, Equatable { var code = 7 }
        let rejected = HTTPError(.rejected(APIFailure()), request: "GET /")
        let errors: [any Error] = [
            rejected, AuthenticationError.refreshFailed(rejected), IntegrationError.model(rejected),
            AuthenticationError.refreshFailed(IntegrationError.model(APIFailure())),
        ]
        let routed = Log()
        let router = ErrorRouter().on(APIFailure.self) { failure in routed.add("\(failure.code)") }

        for error in errors { router.handle(error: error) }

        #expect(routed.entries == ["7", "7", "7", "7"])
        #expect(errors.compactMap { $0.failure(as: APIFailure.self) }.count == errors.count)
        #expect(AuthenticationError.userHasChanged.failure(as: APIFailure.self) == nil)
    }
}
