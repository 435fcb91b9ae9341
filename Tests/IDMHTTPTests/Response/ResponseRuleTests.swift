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
        "the status decides without a rule",
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

    @Test("an unreadable failure body leaves the decision to the status")
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
        #expect(verdict([ResponseRule { _ in .undecided }, first], 200) == "code 1")
    }
}
