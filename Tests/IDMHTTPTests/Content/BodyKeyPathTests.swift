import Foundation
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A key path", .timeLimit(.ample))
struct BodyKeyPathTests {
    @Test(
        "a key path is split into names",
        arguments: [
            (nil, []), ("", []), ("a", ["a"]), ("a.b.0", ["a", "b", "0"]), ("a\\.b.c", ["a.b", "c"]),
            ("a\\\\.b", ["a\\", "b"]),
            (".", ["", ""]), ("a.", ["a", ""]), ("a\\b", ["a\\b"]), ("a\\", ["a\\"]), ("é.🚀", ["é", "🚀"]),
            ("a.\u{301}b", ["a", "\u{301}b"]), ("a\\.\u{301}b", ["a.\u{301}b"]),
        ] as [(String?, [String])])
    func names(text: String?, names: [String]) {
        #expect(BodyKeyPath(text).names == names)
    }

    private static let body = Data(
        #"{"data":{"items":[{"n":1},{"n":2}],"0":"zero","a.b":{"c":3},"none":null,"when":1700000000}}"#.utf8)

    @Test(
        "leads to a number",
        arguments: [
            ("data.items.0.n", 1), ("data.items.1.n", 2), ("data.a\\.b.c", 3),
        ])
    func found(path: String, value: Int) throws {
        #expect(try JSONDecoder().decode(Int.self, from: Self.body, at: path) == value)
        let list = try PropertyListSerialization.data(
            fromPropertyList: ["data": ["items": [["n": 1], ["n": 2]], "a.b": ["c": 3]]], format: .binary, options: 0)
        #expect(try PropertyListDecoder().decode(Int.self, from: list, at: path) == value)
    }

    @Test("a key path reaches numeric names and optional values")
    func special() throws {
        #expect(try JSONDecoder().decode(String.self, from: Self.body, at: "data.0") == "zero")
        #expect(try JSONDecoder().decode(Int?.self, from: Self.body, at: "data.none") == nil)
        #expect(try JSONDecoder().decode([[String: Int]].self, from: Self.body, at: "data.items").count == 2)
    }

    @Test("a key path keeps the decoder's date strategy")
    func strategies() throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970

        let date = try decoder.decode(Date.self, from: Self.body, at: "data.when")
        #expect(date == Date(timeIntervalSince1970: 1_700_000_000))
    }

    @Test(
        "a key path matches body names before converted names",
        arguments: ["user_data.all_items.0.first_name", "userData.allItems.0.firstName", "user_data.plain"])
    func convertedNames(path: String) throws {
        let body = Data(#"{"user_data":{"all_items":[{"first_name":"Ada"}],"plain":"Ada"}}"#.utf8)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        #expect(try decoder.decode(String.self, from: body, at: path) == "Ada")

        let error = #expect(throws: DecodingError.self) {
            try decoder.decode(String.self, from: body, at: "user_data.no_items")
        }
        let shown = error.map { HTTPError.DecodingFault($0, in: body, redacted: .standard) }
        #expect(shown?.path == "userData.no_items")
    }

    @Test("a key path matches body names before a custom strategy")
    func writtenFirst() throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom { path in
            AnyKey(stringValue: path.map(\.stringValue).joined(separator: "/"))
        }

        #expect(try decoder.decode(Int.self, from: Data(#"{"a":{"b":1}}"#.utf8), at: "a.b") == 1)
        #expect(try decoder.decode(Int.self, from: Data(#"{"a":{"b":1}}"#.utf8), at: "a.a/b") == 1)
    }

    @Test(
        "a key path without a value is an error with the whole path",
        arguments: [
            ("nothing", "nothing"), ("data.items.2", "data.items.2"), ("data.items.2.n", "data.items.2"),
            ("data.items.-1", "data.items.-1"), ("data.items.99999999999", "data.items.99999999999"),
            ("data.nothing.at.all", "data.nothing"), ("data.items.0.x", "data.items.0.x"),
            ("data.items.x", "data.items"), ("data.0.x", "data.0"), ("data.none.x", "data.none"),
            ("data.none", "data.none"),
        ])
    func lost(path: String, fault: String) {
        let error = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Int.self, from: Self.body, at: path)
        }
        let shown = error.map { HTTPError.DecodingFault($0, in: Self.body, redacted: .standard) }
        #expect(shown?.path == fault)
    }
}
