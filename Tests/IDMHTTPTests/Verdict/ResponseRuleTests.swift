import Foundation
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A response rule", .timeLimit(.ample))
struct ResponseRuleTests {
    private struct Envelope: Decodable { let code: Int }
    private struct APIFailure: Error, Decodable, Equatable { let code: Int }

    private func verdict(_ rules: [ResponseRule], _ status: Int, _ body: String = "") -> String {
        switch rules.failure(of: ServiceResponse(status: status, body: Data(body.utf8))) {
        case nil: "success"
        case .status(let status): "status \(status)"
        case .rejected(let failure as APIFailure): "code \(failure.code)"
        case .some(let reason): "\(reason)"
        }
    }

    @Test(
        "isn't needed for a status to decide",
        arguments: [
            (200, true), (204, true), (299, true), (100, false), (199, false), (300, false), (304, false), (404, false),
            (500, false), (999, false), (0, false),
        ])
    func statuses(status: Int, succeeds: Bool) {
        #expect(verdict([], status) == (succeeds ? "success" : "status \(status)"))
    }

    @Test("may take any status for a success")
    func accept() {
        #expect(verdict([.accept([404])], 404) == "success")
        #expect(verdict([.accept([404])], 500) == "status 500")
        #expect(verdict([.accept(200..<400)], 304) == "success")
    }

    @Test("may narrow the statuses that are")
    func narrow() {
        #expect(verdict([.status(in: 200...200)], 204) == "status 204")
        #expect(verdict([.status(in: 200...200)], 200) == "success")
        #expect(verdict([.status(in: ..<500)], 404) == "status 404")
    }

    @Test("finds the API's own failure in an envelope, whatever the status is")
    func envelope() {
        let rule = ResponseRule.envelope(Envelope.self, at: "meta") { $0.code == 0 ? nil : APIFailure(code: $0.code) }

        #expect(verdict([rule], 200, #"{"meta":{"code":7}}"#) == "code 7")
        #expect(verdict([rule], 200, #"{"meta":{"code":0}}"#) == "success")
        #expect(verdict([rule], 500, #"{"meta":{"code":7}}"#) == "code 7")
        for other in ["", "<html>", "[]", #"{"meta":null}"#, #"{"meta":{"code":"7"}}"#] {
            #expect(verdict([rule], 200, other) == "success")
            #expect(verdict([rule], 500, other) == "status 500")
        }
    }

    @Test("reads the body of a failure, and leaves one that can't be read to the status")
    func failureBody() {
        let rule = ResponseRule.failureBody(APIFailure.self)

        #expect(verdict([rule], 422, #"{"code":7}"#) == "code 7")
        #expect(verdict([rule], 422, "\u{FEFF}{\"code\":7}") == "code 7")
        #expect(verdict([rule], 200, #"{"code":7}"#) == "success")
        for other in ["", "<html>", "{}", "\u{FF}"] {
            #expect(verdict([rule], 422, other) == "status 422")
        }
        #expect(verdict([.failureBody(APIFailure.self, at: "errors.0")], 400, #"{"errors":[{"code":1}]}"#) == "code 1")
    }

    @Test("decides before those behind it")
    func order() {
        let first = ResponseRule { _ in .rejected(APIFailure(code: 1)) }
        let second = ResponseRule { _ in .rejected(APIFailure(code: 2)) }

        #expect(verdict([first, second], 200) == "code 1")
        #expect(verdict([second, first], 200) == "code 2")
        #expect(verdict([.accept([200]), first], 200) == "success")
        #expect(verdict([ResponseRule { _ in .noOpinion }, first], 200) == "code 1")
    }
}

@Suite("An HTTP error", .timeLimit(.ample))
struct HTTPErrorTests {
    private struct Leak: Error, CustomStringConvertible {
        var description: String { "s3cret" }
    }

    @Test(
        "shows no secrets, however it is shown",
        arguments: [
            .transport(Leak()), .rejected(Leak()),
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

    @Test("gives the failure that a rule found, as its type")
    func failures() {
        let error = HTTPError(.rejected(Leak()), request: "GET /")

        #expect(error.failure(as: Leak.self) != nil)
        #expect(error.failure(as: URLError.self) == nil)
        #expect(HTTPError(.status(1), request: "").failure(as: Leak.self) == nil)
        #expect(error.status == nil)
    }

    @Test(
        "quotes a body without its secrets",
        arguments: [
            (#"{"token":"s3cret","a":1}"#, #"{"token":<redacted>,"a":1}"#),
            (#"{"access_token" : "s3\"cret", "a": 1"#, #"{"access_token" :<redacted>, "a": 1"#),
            (#"{"password":s3cret}"#, #"{"password":<redacted>}"#),
            ("a=1&token=s3cret&b=2", "a=1&token=<redacted>&b=2"),
            ("token=\u{301}s3cret&b", "token=<redacted>&b"),
            ("\"token\"\u{301}:\"s3cret\",b", "\"token\"\u{301}:<redacted>,b"),
            ("{\"token\":\"\u{301}s3cret\"\u{301},b", "{\"token\":<redacted>\u{301},b"),
            (#"{"tokens":["s3cret","s3cret"],"a":1}"#, #"{"tokens":<redacted>"#),
            (#"{"session":{"id":"s3cret"}}"#, #"{"session":<redacted>"#),
            (#"{"token":"s3cre"#, #"{"token":<redacted>"#),
            (#"{\"token\":\"s3cret\",\"a\":1}"#, #"{\"token\":<redacted>"#),
            ("Cookie: s3cret\nb", "Cookie:<redacted>\\nb"), ("plain text", "plain text"), ("", ""),
        ])
    func excerpts(body: String, shown: String) {
        #expect(ServiceRedaction.standard.excerpt(of: Data(body.utf8)) == shown)
    }

    @Test("quotes the beginning of a body, on one line")
    func longExcerpts() {
        let long = Data((String(repeating: "é", count: 300) + "\n").utf8)

        #expect(ServiceRedaction.standard.excerpt(of: long) == String(repeating: "é", count: 200) + "…")
        #expect(ServiceRedaction.standard.excerpt(of: Data("a\r\nb\0".utf8)) == #"a\r\nb\0"#)
        let cut = Data((String(repeating: " ", count: 180) + #""token":"s3cret""#).utf8)
        #expect(!ServiceRedaction.standard.excerpt(of: cut).contains("s3"))
    }
}
