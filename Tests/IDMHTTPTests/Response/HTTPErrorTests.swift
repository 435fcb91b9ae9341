import Foundation
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
            ("<token>s3cret</token><a>b</a>", "<token><redacted></token><a>b</a>"),
            (#"<x:token a="b">s3cret</x:token>"#, #"<x:token a="b"><redacted></x:token>"#),
            ("<a><session> <id>s3cret</id></session>", "<a><session><redacted>"),
            ("<key>token</key><string>s3cret</string>", "<key>token</key><string><redacted></string>"),
            ("<key>name</key><string>x</string>", "<key>name</key><string>x</string>"),
            ("<status>token</status><message>x</message>", "<status>token</status><message>x</message>"),
            ("user[password]=s3cret&a=1", "user[password]=<redacted>&a=1"),
            ("user%5Bpin%5D=s3cret&a=1", "user%5Bpin%5D=<redacted>&a=1"),
            ("<title>No token</title><p>x</p>", "<title>No token</title><p>x</p>"),
            (#"{"next":"https://ada:s3cret@h/","a":"b@c"}"#, #"{"next":"https://<redacted>@h/","a":"b@c"}"#),
            (#"{"message":"bearer s3cret.s3cret isn't good"}"#, #"{"message":"bearer <redacted> isn't good"}"#),
            (#"["Authorization","Basic s3cret=="]"#, #"["Authorization","Basic <redacted>"]"#),
            ("Bearer tokens and Basic authentication, 1", "Bearer tokens and Basic authentication, 1"),
            ("Cookie: s3cret\nb", "Cookie:<redacted>\\nb"), ("plain text", "plain text"), ("", ""),
        ])
    func excerpts(body: String, shown: String) {
        #expect(ServiceRedaction.standard.excerpt(of: Data(body.utf8)) == shown)
        #expect(ServiceRedaction.none.excerpt(of: Data(body.utf8)) == body.escapedForDescription())
    }

    @Test(
        "quotes a value without itself where a name beside it is secret",
        arguments: [
            (#"{"name":"token","value":"s3cret","a":1}"#, #"{"name":"token","value":<redacted>,"a":1}"#),
            (#"{"value":"s3cret","name":"token","a":1}"#, #"{"value":<redacted>,"name":"token","a":1}"#),
            (#"{"Name": "Authorization", "a":{"b":"}"}, "Value" : "s3cret"}"#, nil),
            (#"{"value":"s3cret","a":{"name":"x"},"b":"}","name":"token"}"#, nil),
            (#"{"name":"token","html":"<b>x</b>","value":"s3cret"}"#, nil),
            (#"{"key":"api_key","value":{"stringValue":"s3cret"}}"#, #"{"key":<redacted>,"value":<redacted>"#),
            (#"[{"name":"Ada"},{"value":"s3cret","name":"token"}]"#, nil),
            (#"{\"name\":\"token\",\"value\":\"s3cret\"}"#, #"{\"name\":\"token\",\"value\":<redacted>"#),
            (
                #"[{"name":"page","value":"1"},{"name":"token","value":"s3cret"},{"name":"q","value":"x"}]"#,
                #"[{"name":"page","value":"1"},{"name":"token","value":<redacted>},{"name":"q","value":"x"}]"#
            ),
            (
                #"[{"value":"1","name":"page"},{"value":"s3cret","name":"token"},{"value":"x","name":"q"}]"#,
                #"[{"value":"1","name":"page"},{"value":<redacted>,"name":"token"},{"value":"x","name":"q"}]"#
            ),
            (#"{"value":["s3cret"],"name":"token"}"#, #"{"value":<redacted>"#),
            (#"{"name":"token","value":"s3cret","id":"7"}"#, #"{"name":"token","value":<redacted>,"id":"7"}"#),
            (#"{"name":"token","fullName":"x","value":"s3cret"}"#, nil),
            (#"{"name":"token","a":{"name":"x"},"value":"s3cret"}"#, nil),
            (#"{"value":"s3cret","fullName":"x","name":"token"}"#, nil),
            (#"{"value":[{"name":"Ada","a":1}]}"#, #"{"value":[{"name":"Ada","a":1}]}"#),
            (#"{"field":"password","message":"is too short"}"#, #"{"field":"password","message":"is too short"}"#),
            (#"<meta name="csrf-token" content="s3cret"><p>x</p>"#, nil),
            (#"<input value="s3cret" name="token"/>"#, #"<input value=<redacted> name="token"/>"#),
            (#"<param name="token">s3cret</param><a>b</a>"#, #"<param name="token"><redacted></param><a>b</a>"#),
            (#"<param name="page" value="1"/>"#, #"<param name="page" value="1"/>"#),
            (
                #"{"type":"field","value":"s3cret","msg":"Invalid","path":"password"}"#,
                #"{"type":"field","value":<redacted>,"msg":"Invalid","path":"password"}"#
            ),
            (#"{"param":"password","value":"s3cret"}"#, #"{"param":"password","value":<redacted>}"#),
            (#"{"property":"user.pin","value":"s3cret"}"#, #"{"property":"user.pin","value":<redacted>}"#),
            (#"{"field":"password","rejected":"s3cret"}"#, #"{"field":"password","rejected":<redacted>}"#),
            (
                #"{"loc":["body","password"],"input":"s3cret","a":1}"#,
                #"{"loc":["body","password"],"input":<redacted>,"a":1}"#
            ),
            ("{\"input\":\"s3cret\",\"loc\":[\n  \"body\",\n  \"pin\",\n  0\n]}", nil),
            (#"{\"loc\":[\"body\",\"pin\"],\"input\":\"s3cret\"}"#, nil),
            ("{'loc': ('body', 'pin'), 'input': 's3cret'}", "{'loc': ('body', 'pin'), 'input':<redacted>}"),
            (#"{"input":"s3cret","loc":["body","pa"#, nil), (#"{"path":"/","value":"s3cret","na"#, nil),
            (#"{"loc":["body","page"],"input":"x"}"#, #"{"loc":["body","page"],"input":"x"}"#),
            (#"{"path":"email","value":"x"}"#, #"{"path":"email","value":"x"}"#),
            ("Set-Cookie: a; path=/token\n\nrest", #"Set-Cookie:<redacted>\n\nrest"#),
            ("name=token&value=s3cret&a=1", "name=token&value=<redacted>&a=1"), ("value: 1", "value: 1"),
        ] as [(String, String?)])
    func pairs(body: String, shown: String?) {
        let excerpt = ServiceRedaction.standard.excerpt(of: Data(body.utf8))
        #expect(shown.map { excerpt == $0 } ?? (excerpt.contains("<redacted>") && !excerpt.contains("s3cret")))
    }

    @Test("quotes nothing of a value whose name is further behind than is looked at")
    func cutPairs() {
        let long = String(repeating: "s3cret", count: 300)
        let body = #"[{"name":"a","value":"1"},{"value":"\#(long)","name":"token"}]"#
        #expect(
            ServiceRedaction.standard.excerpt(of: Data(body.utf8)) == #"[{"name":"a","value":"1"},{"value":<redacted>"#)
        let plain = #"[{"name":"a","value":"\#(String(repeating: "x", count: 2_000))"}]"#
        #expect(ServiceRedaction.standard.excerpt(of: Data(plain.utf8)).contains("xxx"))
        let list = #"{"value":[{"a":"\#(String(repeating: "x", count: 2_000))"}]}"#
        #expect(ServiceRedaction.standard.excerpt(of: Data(list.utf8)).contains("xxx"))
    }

    @Test("quotes the beginning of a body, on one line")
    func longExcerpts() {
        let long = Data((String(repeating: "é", count: 300) + "\n").utf8)

        #expect(ServiceRedaction.standard.excerpt(of: long) == String(repeating: "é", count: 200) + "…")
        #expect(ServiceRedaction.standard.excerpt(of: Data("a\r\nb\u{7}".utf8)) == #"a\r\nb\u{07}"#)
        let cut = Data((String(repeating: " ", count: 180) + #""token":"s3cret""#).utf8)
        #expect(!ServiceRedaction.standard.excerpt(of: cut).contains("s3"))
    }

    @Test("quotes nothing of a body that isn't text: names can't be seen in it")
    func binaryExcerpts() throws {
        let list = try PropertyListSerialization.data(
            fromPropertyList: ["token": "s3cret"], format: .binary, options: 0)
        let wide = try #require(#"{"token":"s3cret"}"#.data(using: .utf16LittleEndian))

        for body in [list, wide] {
            #expect(ServiceRedaction.standard.excerpt(of: body) == "<\(body.count) bytes>")
        }
        // Text that is cut in the middle of a letter is text still.
        for count in 1_590...1_600 {
            let body = Data((String(repeating: "a", count: count) + String(repeating: "🎏", count: 9)).utf8)
            #expect(ServiceRedaction.standard.excerpt(of: body).hasPrefix("aaa"))
        }
    }
}
