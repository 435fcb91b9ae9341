import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("The path of a request", .timeLimit(.ample))
struct PathTemplateTests {
    private func fill(_ template: String, _ values: [String: String] = [:]) throws -> String {
        try PathTemplate(template).filled(with: values)
    }

    @Test(
        "parameters stand in braces, or after a colon in a segment",
        arguments: [
            ("/users/{id}", ["id": "42"], "/users/42"),
            ("/users/:id/posts", ["id": "42"], "/users/42/posts"),
            ("/{continent}.json", ["continent": "europe"], "/europe.json"),
            ("/:continent.json", ["continent": "europe"], "/europe.json"),
            ("/{a}-{b}", ["a": "1", "b": "2"], "/1-2"),
            ("/{a}{b}/{a}", ["a": "1", "b": "2"], "/12/1"),
            (":id", ["id": "1"], "1"),
            ("/:id{x}", ["id": "1", "x": "2"], "/12"),
            ("/things:batch", [:], "/things:batch"),
            ("/at/12:30", [:], "/at/12:30"),
            ("", [:], ""),
            ("/", [:], "/"),
            ("users//all/", [:], "users//all/"),
        ] as [(String, [String: String], String)])
    func parameters(template: String, values: [String: String], path: String) throws {
        #expect(try fill(template, values) == path)
    }

    @Test("never takes the beginning of a name for the name")
    func longerNames() throws {
        #expect(try fill("/:id/:idx/:id_2", ["id": "1", "idx": "2", "id_2": "3"]) == "/1/2/3")
        #expect(try fill("/{id}/{idx}", ["id": "1", "idx": "2"]) == "/1/2")
        #expect(throws: ServiceRequest.Fault.unusedParameters(["id"], template: "/:idx")) {
            try fill("/:idx", ["id": "1", "idx": "2"])
        }
    }

    @Test(
        "a value can't leave its segment",
        arguments: [
            ("a/b", "a%2Fb"), ("a?b", "a%3Fb"), ("a#b", "a%23b"), ("50%", "50%25"), ("%2e%2e", "%252e%252e"),
            ("%2F", "%252F"), ("a\\b", "a%5Cb"), ("a b", "a%20b"), ("a;b=c,d", "a%3Bb%3Dc%2Cd"), ("é", "%C3%A9"),
            ("👩‍🚀", "%F0%9F%91%A9%E2%80%8D%F0%9F%9A%80"), ("\r\n", "%0D%0A"), ("\0", "%00"), ("...", "..."),
            (":id", "%3Aid"),
            ("{id}", "%7Bid%7D"), ("a.b-c_d~e", "a.b-c_d~e"), ("../x", "..%2Fx"),
        ])
    func escaped(value: String, expected: String) throws {
        #expect(try fill("/{v}/end", ["v": value]) == "/\(expected)/end")
        #expect(try fill("/:v/end", ["v": value]) == "/\(expected)/end")
    }

    @Test("a value that looks like a parameter is inserted literally")
    func noSecondPass() throws {
        #expect(try fill("/{a}/{b}", ["a": "{b}", "b": "1"]) == "/%7Bb%7D/1")
    }

    @Test(
        "forbidden characters are escaped, existing escapes stay",
        arguments: [
            ("/a b", "/a%20b"), ("/ä", "/%C3%A4"), ("/%41%2F", "/%41%2F"), ("/a\"b", "/a%22b"), ("/a|b", "/a%7Cb"),
            ("/(a)*'!$&+,;=@", "/(a)*'!$&+,;=@"),
        ])
    func literals(template: String, path: String) throws {
        #expect(try fill(template) == path)
    }

    @Test(
        "combining marks don't hide syntax in a template",
        arguments: [
            ("/a/\u{301}b", "/a/%CC%81b"), ("/{v}\u{301}/x", "/1%CC%81/x"), ("/\u{301}{v}", "/%CC%811"),
            ("/a{\u{301}v}", nil), ("/../\u{301}", nil), ("/a?\u{301}b", nil), ("/\u{301}/#\u{301}", nil),
            ("//\u{301}", nil), ("a:/\u{301}/b", "a:/%CC%81/b"), ("a://\u{301}b", nil), ("/:v\u{301}", "/1%CC%81"),
        ] as [(String, String?)])
    func marks(template: String, path: String?) throws {
        let values = template.unicodeScalars.contains("v") ? ["v": "1"] : [:]
        guard let path else {
            #expect(throws: ServiceRequest.Fault.self) { try fill(template, values) }
            return
        }
        let found = try fill(template, values)
        #expect(found == path)
    }

    @Test(
        "an invalid template is refused",
        arguments: [
            ("has a brace without its partner", ["/{id", "/id}", "/}{", "/{a/b}"]),
            ("has a parameter “”, which is no name", ["/{}", "/:", "/:é"]),
            ("has a parameter “1a”, which is no name", ["/{1a}"]),
            ("has a parameter “a b”, which is no name", ["/{a b}"]),
            ("has a parameter “{a”, which is no name", ["/{{a}}"]),
            ("holds a ? or a #, and what follows belongs in the query", ["/a?b=1", "/a#b"]),
            ("holds a % without two hexadecimal digits", ["/a%", "/a%2", "/%zz"]),
            ("holds a control character", ["/a\r\nb", "/\0", "/a\tb"]),
            ("has a segment “.” or “..”", ["/../a", "/a/./b", "..", "/%2e%2E/a", "/.%2e"]),
            ("is a URL and not a path", ["//host/a", "https://host/a", "file:///etc"]),
        ])
    func refused(reason: String, templates: [String]) {
        for template in templates {
            #expect(throws: ServiceRequest.Fault.path(template: template.escapedForDescription(), reason: reason)) {
                try fill(template)
            }
        }
    }

    @Test(
        "a value that would change the path is refused",
        arguments: [
            ("/{v}", ["v": ".."], "v"), ("/{v}", ["v": "."], "v"), ("/:v", ["v": ".."], "v"),
            ("/{v}/{w}", ["v": "a", "w": ".."], "w"), ("/{v}{w}", ["v": ".", "w": "."], "w"),
            ("/.{v}", ["v": "."], "v"), ("/%2e{v}", ["v": "."], "v"), ("/{v}", ["v": ""], "v"),
            ("/a{v}", ["v": ""], "v"),
        ] as [(String, [String: String], String)])
    func misplaced(template: String, values: [String: String], name: String) {
        let reason = values[name] == "" ? "is empty" : "makes its segment “.” or “..”"
        #expect(throws: ServiceRequest.Fault.parameter(name, template: template, reason: reason)) {
            try fill(template, values)
        }
    }

    @Test("a missing or extra parameter is refused")
    func missingAndExtra() {
        #expect(throws: ServiceRequest.Fault.missingParameter("b", template: "/{a}/{b}")) {
            try fill("/{a}/{b}", ["a": "1"])
        }
        #expect(throws: ServiceRequest.Fault.unusedParameters(["b", "c"], template: "/{a}")) {
            try fill("/{a}", ["a": "1", "c": "2", "b": "3"])
        }
    }

    @Test("never comes out with a way up, whatever random values are put in")
    func randomValues() throws {
        var random = SplitMix(seed: 7)
        let alphabet = Array(".%/2eE\\?#{}:\u{2024}\u{FF0E}a \r\n\0")
        var filled = 0
        let rounds = Volume.of(20_000, normally: 4_000)
        for _ in 0..<rounds {
            let value = String(
                (0..<Int.random(in: 0...4, using: &random)).map { _ in alphabet.randomElement(using: &random)! })
            guard let path = try? fill("/x/{v}/:v/y", ["v": value]) else {
                #expect(["", ".", ".."].contains(value))
                continue
            }
            filled += 1
            let segments = path.split(separator: "/", omittingEmptySubsequences: false)
            #expect(segments.count == 5 && !segments.contains(where: \.isDotSegment))
            #expect(path.consists(of: .pathSegment.union(ByteSet("/%"))) && path.hasSoundEscapes)
            #expect(String(segments[2]).removingEscapes() == value)
        }
        #expect(filled > rounds / 4 * 3)
    }
}
