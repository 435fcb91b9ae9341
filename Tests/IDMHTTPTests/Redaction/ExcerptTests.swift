import Foundation
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("An excerpt of a body", .timeLimit(.ample))
struct ExcerptTests {
    private func excerpt(_ body: String) -> String {
        ServiceRedaction.standard.withoutSecrets(body, isCut: false)
    }

    @Test(
        "shows nothing of what stands behind a secret name in a list",
        arguments: [
            (#"["token","s3cret"]"#, #"["token",<redacted>]"#),
            (#"["Authorization", "Bearer of s3cret"]"#, #"["Authorization",<redacted>]"#),
            (#"[["page","1"],["token","s3cret"],["q","x"]]"#, #"[["page","1"],["token",<redacted>],["q","x"]]"#),
            (#"["page","1","token","s3cret","q","x"]"#, #"["page","1","token",<redacted>,"q","x"]"#),
            (#"["user[pin]" , 's3cret']"#, #"["user[pin]" ,<redacted>]"#),
            (#"["token",["s3cret"]]"#, #"["token",<redacted>"#), (#"["token",12345]"#, #"["token",<redacted>]"#),
            (#"["token","s3cr"#, #"["token",<redacted>"#),
            ("[\n  \"token\",\n  \"s3cret\"\n]", "[\n  \"token\",<redacted>\n]"),
            (#"{"list":"[\"token\",\"s3cret\"]"}"#, #"{"list":"[\"token\",<redacted>}"#),
            (#"["masterKey","s3cret","monkey","x"]"#, #"["masterKey",<redacted>,"monkey","x"]"#),
            (#"{"errors":["is too short","is taken"]}"#, #"{"errors":["is too short","is taken"]}"#),
            (#"["Your token has expired","Sign in"]"#, #"["Your token has expired","Sign in"]"#),
            (#"{"field":"password","message":"is too short"}"#, #"{"field":"password","message":"is too short"}"#),
        ])
    func lists(body: String, shown: String) { #expect(excerpt(body) == shown) }

    @Test(
        "shows nothing of a part whose name is secret",
        arguments: [
            ("name=\"password\"\r\n\r\ns3cret\r\n--b", "name=\"password\"\r\n\r\n<redacted>"),
            (
                "--b\r\nContent-Disposition: form-data; name=\"pin\"; filename=\"x\"\r\nA: b\r\n\r\ns3cret\r\n\r\n"
                    + "--s3cret\r\n--b\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nx\r\n--b--",
                "--b\r\nContent-Disposition: form-data; name=\"pin\"; filename=\"x\"\r\nA: b\r\n\r\n<redacted>\r"
                    + "\n--b\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nx\r\n--b--"
            ),
            (
                "--b\nx; name=\"user[password]\"\n\ns3cret\n--b--",
                "--b\nx; name=\"user[password]\"\n\n<redacted>\n--b--"
            ),
            (#"{"a":"name=\"pin\"\r\n\r\ns3cret\r\n--b","c":1}"#, #"{"a":"name=\"pin\"\r\n\r\n<redacted>"#),
            (
                "--b\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nx\r\n--b--",
                "--b\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nx\r\n--b--"
            ),
        ])
    func parts(body: String, shown: String) { #expect(excerpt(body) == shown) }

    @Test(
        "shows no rows of a table that has a secret column",
        arguments: [
            ("id,token\n1,s3cret\n", "id,token\n<redacted>"), ("Name;\"Access Token\"\r\nx;s3cret", nil),
            ("\u{FEFF}token\tname\ns3cret\tx", nil), ("token\ns3cret", nil), ("\n\nid|x|pin\n1|2|s3cret", nil),
            ("Report of today:\nid,,token\n1,,s3cret", nil),
            ("id,name\n1,Ada\n2,Bob", "id,name\n1,Ada\n2,Bob"),
            ("Your token has expired, so sign in\nand go on", "Your token has expired, so sign in\nand go on"),
            ("Error, invalid token\nYours has expired.\nGo.", "Error, invalid token\nYours has expired.\nGo."),
            ("Error, invalid token\nYours has", "Error, invalid token\nYours has"),
            ("token,id\ns3cr", "token,id\n<redacted>"), ("id,pin\n\"1\n\",s3cret", "id,pin\n<redacted>"),
        ] as [(String, String?)])
    func tables(body: String, shown: String?) {
        let found = excerpt(body)
        #expect(shown.map { found == $0 } ?? (found.hasSuffix("<redacted>") && !found.contains("s3cret")))
    }

    @Test(
        "shows nothing of a secret line of a header, up to its end",
        arguments: [
            ("A: b\r\nCookie: a=s3cret; b=s3cret\r\nC: d", "A: b\r\nCookie:<redacted>\r\nC: d"),
            ("Authorization: Digest a=\"s3cret\", b=\"s3cret\"\nC: d", "Authorization:<redacted>\nC: d"),
            ("  token: 's3cret'\n  id: 7", "  token:<redacted>\n  id: 7"),
            ("Cookie: a=s3cret;\r\n b=s3cret\r\nC: d", "Cookie:<redacted>\r\nC: d"),
            ("token: |\n  s3cret\n\n  s3cret\nid: 7", "token:<redacted>\nid: 7"),
            ("a:\n  tokens:\n  - s3cret\n  - s3cret\n  id: 7", "a:\n  tokens:<redacted>\n  id: 7"),
            ("- pin: s3cret, s3cret\n  id: 7\n- id: 8", "- pin:<redacted>\n  id: 7\n- id: 8"),
            (#"{"a":"Cookie: a=\"s3cret\"; b=s3cret\nC: d","e":1}"#, #"{"a":"Cookie:<redacted>","e":1}"#),
            (#"{"a":"token: must not be empty","e":1}"#, #"{"a":"token:<redacted>","e":1}"#),
        ])
    func lines(body: String, shown: String) { #expect(excerpt(body) == shown) }

    @Test(
        "shows nothing of a value however it is written",
        arguments: [
            (
                #"["token" => "s3cret", :pin => 's3cret', :a => 1]"#,
                #"["token" =><redacted>, :pin =><redacted>, :a => 1]"#
            ),
            (#"{:name => "token", :value => "s3cret"}"#, #"{:name => "token", :value =><redacted>}"#),
            (#"{"signingKey":"s3cret","keyword":"x"}"#, #"{"signingKey":<redacted>,"keyword":"x"}"#),
            (#"{"name":"appKey","value":"s3cret"}"#, #"{"name":"appKey","value":<redacted>}"#),
            ("{'token': b's3cret', 'a': b'x'}", "{'token':<redacted>, 'a': b'x'}"),
            (#"[("pin", rb"s3cret"), (u"a", u"x")]"#, #"[("pin",<redacted>), (u"a", u"x")]"#),
            ("{'name': b'token', 'value': b's3cret'}", "{'name': b'token', 'value':<redacted>}"),
            (#"{"a":"{'pin': b\"s3cret\", 'b': 1}"}"#, #"{"a":"{'pin':<redacted>}"#),
            ("token = \"\"\"\ns3cret\n\"\"\"\na = 1", "token =<redacted>\na = 1"),
            ("pin='it''s s3cret', a=1", "pin=<redacted>, a=1"),
            (#"{"token": /* of today */ "s3cret", "a": 1}"#, #"{"token":<redacted>"#),
            ("{\"token\": // of today\n \"s3cret\"}", #"{"token":<redacted>"#),
            ("<token>s3c<!-- -->ret</token><a>b</a>", "<token><redacted>"),
            ("<P><Name>token</Name><Value>s3cret</Value></P>", "<P><Name>token</Name><Value><redacted></Value></P>"),
            ("<input name=\"pin\"><b>x</b>", "<input name=\"pin\"><b>x</b>"), ("<token/><b>x</b>", "<token/><b>x</b>"),
        ])
    func values(body: String, shown: String) { #expect(excerpt(body) == shown) }

    @Test(
        "shows nothing of a value whose name and sign are escaped, up to what ends it",
        arguments: [
            (#"{"a":"h?b=1\u0026sig\u003ds3cret\u0026c=2"}"#, #"{"a":"h?b=1\u0026sig\u003d<redacted>\u0026c=2"}"#),
            ("a=%7B%22pin%22%3A%22s3%26cret%22%7D&b=1", "a=%7B%22pin%22%3A<redacted>%7D&b=1"),
            ("a=h%253Fpin%253Ds3cret%2526b&c=d", "a=h%253Fpin%253D<redacted>%2526b&c=d"),
            ("{&quot;pin&quot;:&quot;s3, cret&quot;,&quot;a&quot;:1}", "{&quot;pin&quot;:<redacted>,&quot;a&quot;:1}"),
            ("&lt;token&gt;s3cret&lt;/token&gt;", "&lt;token&gt;<redacted>&lt;/token&gt;"),
            (#"{"\u0070in":"s3cret","a":"\tpin=s3cret"}"#, #"{"\u0070in":<redacted>,"a":"\tpin=<redacted>"}"#),
            // What is escaped ends nothing that isn't.
            ("pin=s3%26cret%22&a=1", "pin=<redacted>&a=1"), ("pin=%22s3%22cret&a=1", "pin=<redacted>&a=1"),
            (#"{"pin":"s3%22cret","a":1}"#, #"{"pin":<redacted>,"a":1}"#),
            ("--b\nname=pin\n\ns3\\n--bcret\n--b--", "--b\nname=pin\n\n<redacted>\n--b--"),
            ("pin: |\n  s3\\ncret\n   \\ns3cret\na: 1", "pin:<redacted>\na: 1"),
        ])
    func escapes(body: String, shown: String) { #expect(excerpt(body) == shown) }

    @Test("shows no credential that is known by its looks, or a user of an address, also where they are cut off")
    func credentials() {
        let token = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJzM2NyZXQifQ.c2ln"
        #expect(excerpt("No \(token), no entry") == "No <redacted>, no entry")
        for count in 21...token.count { #expect(excerpt(String(token.prefix(count))) == "<redacted>") }
        #expect(excerpt(#"{"a":"https:\/\/ada:s3cret@h\/x"}"#) == #"{"a":"https:\/\/<redacted>@h\/x"}"#)

        let ends = [
            ("https://ada:s3", "https://<redacted>"), (#"x:\/\/s3"#, #"x:\/\/<redacted>"#),
            ("Bearer s", "Bearer <redacted>"),
        ]
        for (end, shown) in ends {
            #expect(ServiceRedaction.standard.withoutSecrets(end, isCut: true) == shown)
            #expect(excerpt(end.replacing("s3", with: "host")) == end.replacing("s3", with: "host"))
        }
    }

    @Test(
        "shows nothing of a value in what ends before it says its name, and all of what ends as it should",
        arguments: [
            (#"{"value":"s3cret","na"#, #"{"value":<redacted>,"na"#),
            (#"{"value":"s3cret","name":"tok"#, #"{"value":<redacted>,"name":"tok"#),
            (#"<input value="s3cret" na"#, #"<input value=<redacted> na"#),
            (#"{"a":"{\"value\":\"s3cret\",\"name\":\"token\"}"}"#, nil),
            (#"{"a":"}","value":"s3cret","na"#, nil), (#"{"a":"it's {","value":"s3cret","name":"token"}"#, nil),
            (#"{"name":"x","value":"y"#, #"{"name":"x","value":"y"#),
            (#"{"value":"y","name":"x"}"#, #"{"value":"y","name":"x"}"#),
            (#"{"a":"don't {","value":5,"b":"<"}"#, #"{"a":"don't {","value":5,"b":"<"}"#),
        ] as [(String, String?)])
    func cut(body: String, shown: String?) {
        let found = excerpt(body)
        #expect(shown.map { found == $0 } ?? !found.contains("s3cret"))
    }

    @Test(
        "shows all of what holds no secret",
        arguments: [
            "Not found", "5\" of it, and 'twas {late}: a < b > c", "The user, password or both are wrong: try again.",
            #"{"error":{"status":404,"message":"No user with this id","details":["a","b"]},"id":"7","page":{"next":2}}"#,
            "<html><head><title>502 Bad Gateway</title></head>\n\n<body><h1>Sorry</h1><p>It's us.</p></body></html>",
            "a=1&b=2;c=3", "id: 7\nitems:\n  - a\n  - b\n\nrest: none\n", #"<a href="/x?y=1" title="5 > 4">z</a>"#,
            "<plist><dict><key>id</key><integer>7</integer></dict></plist>", "{{{[[[]}}}>>><<<\"\"\"'''\\\\\\",
        ])
    func plain(body: String) { #expect(excerpt(body) == body) }

    @Test("never shows a secret that has a secret name, wherever a body is cut", .offThePool)
    func property() {
        var documents = SecretDocuments(seed: 23)
        for round in 0..<Volume.of(400, normally: 14) {
            let text = Array(documents.next().unicodeScalars)
            for count in 0...text.count {
                let beginning = String(String.UnicodeScalarView(text[..<count]))
                for isCut in [true, false] {
                    let shown = ServiceRedaction.standard.withoutSecrets(beginning, isCut: isCut)
                    guard shown.unicodeScalars.contains(SecretDocuments.sign) else { continue }
                    Issue.record("round \(round), cut \(isCut): \(beginning.debugDescription) as \(shown)")
                    return
                }
            }
        }
    }

    @Test(
        "takes no longer for each sign where there are many: it looks at each a few times at most", .offThePool,
        arguments: [
            ">", "<a", "<a>", "<key>", "<key a", "{", "}", "{[<a", "]>", "\"", "'", "\"\\", ":", "=", "name:", "value:",
            "{value:", "loc:[", "loc:(a,", "pin:b'", "name=token\n\n", "--\n", "--b\nname=pin\n\n", ",", "\"token\",",
            "\"token\",[", "a,",
            "a,token;",
            " ", " :", "a\n", "\\n", "\\", "token=", "token:\n", "<token>", "//", "//@", "bearer ", "\u{301}",
        ])
    func linear(piece: String) {
        func time(for count: Int) -> Int64 {
            let body = Data(String(repeating: piece, count: count / piece.utf8.count).utf8)
            return ThreadTime.of { #expect(!ServiceRedaction.standard.excerpt(of: body, limit: 16_000).isEmpty) }
        }
        // Eight times as much, or 64 times if each sign leads to a look at all the others.
        let (short, long) = (time(for: 1_000), time(for: 8_000))
        #expect(long < 24 * short, "\(short) ns, and \(long) ns for eight times as much")
    }

    @Test("is made of any signs, in any order", .offThePool)
    func anything() {
        let signs = [
            "{", "}", "[", "]", "<", "</", ">", "/>", "\"", "'", "\\", ":", "=", ",", ";", "&", "\n", "\r\n", "\\n",
            "%22", "\\u003d", "&lt;",
            "--", " ", "\t", "token", "name", "loc", "(", ")", "b'", "value",
            "key", "a", "é", "\u{301}", "\u{FEFF}", "🎏", "%5B", ".",
        ]
        var random = SplitMix(seed: 5)
        for _ in 0..<Volume.of(200_000, normally: 4_000) {
            let count = Int.random(in: 0..<24, using: &random)
            let text = (0..<count).map { _ in signs.randomElement(using: &random) ?? "" }.joined()
            let hasSecret = ServiceRedaction.standard.withoutSecrets(text, isCut: Bool.random(using: &random))
            // What is left out is replaced, and nothing else is changed. Scalar by scalar: a mark of redaction is one
            // also before an accent.
            var rest = text.unicodeScalars[...]
            let pieces = hasSecret.unicodeScalars.split(
                separator: ServiceRedaction.mark.unicodeScalars, omittingEmptySubsequences: false)
            for piece in pieces {
                guard let found = rest.firstRange(of: piece) else {
                    Issue.record("\(text.debugDescription) as \(hasSecret.debugDescription)")
                    return
                }
                rest = rest[found.upperBound...]
            }
        }
    }
}
