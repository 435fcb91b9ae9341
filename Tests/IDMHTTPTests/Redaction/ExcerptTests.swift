import Foundation
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("An excerpt of a body", .timeLimit(.ample))
struct ExcerptTests {
    @Test(
        "quotes JSON without its secrets",
        arguments: [
            (#"{"token":"s3cret","a":1}"#, #"{"a":1,"token":"<redacted>"}"#),
            (#"{"tokens":["s3cret"],"session":{"id":"s3cret"}}"#, #"{"session":"<redacted>","tokens":"<redacted>"}"#),
            (
                #"[{"name":"page","value":"1"},{"name":"token","value":"s3cret"}]"#,
                #"[{"name":"page","value":"1"},{"name":"token","value":"<redacted>"}]"#
            ),
            (#"{"loc":["body","password"],"input":"s3cret"}"#, #"{"input":"<redacted>","loc":["body","password"]}"#),
            (#"["token","s3cret"]"#, #"["token","<redacted>"]"#),
            (#"{"next":"https://ada:s3cret@h/"}"#, #"{"next":"<redacted>"}"#),
            (#"{"message":"bearer s3cret.s3cret isn't good"}"#, #"{"message":"<redacted>"}"#),
            (#"{"message":"eyJhbGciOi.s3cret"}"#, #"{"message":"<redacted>"}"#),
            (#"{"a":"{\"pin\":\"s3cret\"}"}"#, #"{"a":"<redacted>"}"#),
            (
                #"{"message":"Basic authentication is off","a":[]}"#,
                #"{"a":[],"message":"Basic authentication is off"}"#
            ),
            (#"{"field":"password","message":"is too short"}"#, #"{"field":"password","message":"is too short"}"#),
        ])
    func json(body: String, shown: String) {
        #expect(ServiceRedaction.standard.excerpt(of: Data(body.utf8)) == shown)
    }

    @Test(
        "quotes a form without its secrets",
        arguments: [
            ("a=1&token=s3cret&b=2", "a=1&token=<redacted>&b=2"),
            ("user%5Bpin%5D=s3cret&a=1", "user%5Bpin%5D=<redacted>&a=1"),
            ("user[password]=s3cret&a=1", "user[password]=<redacted>&a=1"),
            ("name=token&value=s3cret&a=1", "name=token&value=<redacted>&a=1"), ("a=&b=x+y", "a=&b=x+y"),
        ])
    func forms(body: String, shown: String) {
        #expect(ServiceRedaction.standard.excerpt(of: Data(body.utf8)) == shown)
    }

    @Test(
        "a body of unknown format is shown by type and length",
        arguments: [
            "<token>s3cret</token>", "token: s3cret", "id,token\n1,s3cret\n", "Cookie: s3cret", #"{"token":"s3cre"#,
            "--b\r\nname=\"pin\"\r\n\r\ns3cret", "s3cret", #""s3cret""#, "a=1&s3cret", "a=1&b=%s3cret",
            "token=s3cret\n",
        ])
    func others(body: String) {
        let data = Data(body.utf8)
        #expect(ServiceRedaction.standard.excerpt(of: data) == "<\(data.count) bytes>")
        #expect(
            ServiceRedaction.standard.excerpt(of: data, contentType: "text/html") == "<text/html, \(data.count) bytes>")
        #expect(ServiceRedaction.none.excerpt(of: data) == body.escapedForDescription())
    }

    @Test("an excerpt is one line of at most 200 characters")
    func limits() {
        let long = Data(#"{"a":"\#(String(repeating: "é", count: 300))"}"#.utf8)
        let shown = ServiceRedaction.standard.excerpt(of: long)
        #expect(shown.count == 201 && shown.hasSuffix("é…"))
        let huge = Data(#"{"a":"\#(String(repeating: "x", count: 70_000))"}"#.utf8)
        #expect(ServiceRedaction.standard.excerpt(of: huge) == "<\(huge.count) bytes>")
        #expect(ServiceRedaction.standard.excerpt(of: Data()).isEmpty)
    }
}
