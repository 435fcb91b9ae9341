import Foundation
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("JSON of any shape", .timeLimit(.ample))
struct ServiceJSONTests {
    private func read(_ text: String) throws -> ServiceJSON {
        try JSONDecoder().decode(ServiceJSON.self, from: Data(text.utf8))
    }

    @Test(
        "JSON values keep their types",
        arguments: [
            ("null", .null), ("true", .bool(true)), ("false", .bool(false)), ("0", .integer(0)), ("1", .integer(1)),
            ("-7", .integer(-7)), ("1.5", .number(1.5)), ("1e2", .integer(100)),
            ("9223372036854775807", .integer(.max)),
            ("9223372036854775808", .number(9223372036854775808)), ("\"a\"", .string("a")), ("\"1\"", .string("1")),
            ("\"true\"", .string("true")), ("[]", .array([])), ("{}", .object([:])),
            (
                #"[1,[null],{"a":"é\ud83d\ude80"}]"#,
                .array([.integer(1), .array([.null]), .object(["a": .string("é🚀")])])
            ),
        ] as [(String, ServiceJSON)])
    func kinds(text: String, value: ServiceJSON) throws {
        #expect(try read(text) == value)
    }

    @Test("JSON is written as it was read")
    func roundTrip() throws {
        let value = try read(#"{"a":[1,2.5,"x",null,true,{"b":{}}],"c":false}"#)

        #expect(try JSONDecoder().decode(ServiceJSON.self, from: JSONEncoder().encode(value)) == value)
    }

    @Test("a subscript reaches any path")
    func paths() throws {
        let json = try read(#"{"user":{"names":["Ada","Grace"],"age":36,"score":2.0,"on":true}}"#)

        #expect(json["user"]["names"][1].string == "Grace")
        #expect(json["user"]["age"].int == 36 && json["user"]["age"].double == 36)
        #expect(json["user"]["score"].int == 2 && json["user"]["on"].bool == true)
        #expect(json["user"]["names"][2].isNull && json["user"]["names"][-1].isNull)
        #expect(json["nobody"][0]["x"].isNull && json[0].isNull)
        #expect(json["user"].object?.count == 4 && json["user"]["names"].array?.count == 2)
        #expect(json["user"].string == nil && json["user"].int == nil && json["user"].bool == nil)
    }

    @Test(
        "invalid and too deep JSON is an error",
        arguments: [
            "", "{", "[1,]x", "nul", "\"\\ud800\"", "NaN", "\u{FEFF}\u{FEFF}1", String(repeating: "[", count: 100_000),
            String(repeating: "[", count: 5_000) + String(repeating: "]", count: 5_000),
        ])
    func errors(text: String) {
        #expect(throws: (any Error).self) { try read(text) }
    }
}
