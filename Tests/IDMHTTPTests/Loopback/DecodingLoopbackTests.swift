import Foundation
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

private struct Item: Decodable, Equatable, Sendable {
    enum Kind: String, Decodable { case known }

    var name: String?
    var size: Int?
    var ratio: Double?
    var kind: Kind?
}

private struct Items: DecodableResource {
    typealias Value = [Item]
    var invalidElements = InvalidElementPolicy.fail
    var request: ServiceRequest { ServiceRequest(.get, "/a") }
    var rootKeyPath: String? { "data.items" }
}

private struct Anything: JSONObjectResource {
    var request: ServiceRequest { ServiceRequest(.get, "/a") }
}

@Suite("Decoding of a real server's responses", .fewAtOnce, .overEachTransport, .timeLimit(.ample))
struct DecodingLoopbackTests {
    private static func items(_ content: String) -> String { #"{"data":{"items":["# + content + "]}}" }

    @Test(
        "an unexpected body is an error with its place",
        arguments: [
            ("", ""), ("<html>s3cret</html>", ""), ("null", ""), ("[]", ""), ("{}", "data"),
            (#"{"data":null}"#, "data"), (#"{"data":{}}"#, "data.items"),
            (#"{"data":{"items":null}}"#, "data.items"),
            (#"{"data":{"items":{}}}"#, "data.items"), (items(#"{"size":"1"}"#), "data.items.0.size"),
            (items(#"{},{"kind":"unknown"}"#), "data.items.1.kind"), (items("1"), "data.items.0"),
            (items(#"{"size":1e400}"#), ""),
            (items(#"{"size":99999999999999999999}"#), ""),
            (items(#"{"ratio":NaN}"#), ""), (items(#"{"name":"\ud800"}"#), ""), (items(#"{"name":"#), ""),
            (String(repeating: "[", count: 10_000), ""),
            ("{\"data\":{\"items\":" + String(repeating: "[", count: 5_000), ""),
        ])
    func faults(body: String, path: String) async throws {
        try await withServer { server, service in
            server.on(.get, "/a", answer: .json(body))
            do {
                let items = try await service.fetch(Items())
                Issue.record("It was read as \(items)")
            } catch let error as HTTPError {
                guard case .decoding(let fault) = error.reason else {
                    Issue.record("It failed with \(error)")
                    return
                }
                #expect(fault.path == path, "\(error)")
                #expect(error.status == 200)
                #expect(fault.excerpt.count <= 201)
            }
        }
    }

    @Test("a byte order mark, charset or type doesn't affect JSON")
    func labels() async throws {
        try await withServer { server, service in
            let body = Data(Self.items(#"{"name":"é"}"#).utf8)
            server.on(
                .get, "/a",
                answers: [
                    .json(Data([0xEF, 0xBB, 0xBF]) + body), .bytes(body, type: "application/json; charset=iso-8859-1"),
                    .bytes(body, type: "text/html"), .bytes(body, type: nil),
                ])
            for _ in 0..<4 {
                let items = try await service.fetch(Items())
                #expect(items == [Item(name: "é")])
            }
        }
    }

    @Test("schemaless JSON is read or fails with an error")
    func anything() async throws {
        try await withServer { server, service in
            let deep = String(repeating: "[", count: 5_000) + String(repeating: "]", count: 5_000)
            server.on(
                .get, "/a",
                answers: [
                    .json(#"{"a":[1,2.5,null,true,"x"],"a2":{"b":1e3}}"#), .json("1e400"), .json(deep),
                    .json("nonsense"),
                ])
            let json = try await service.fetch(Anything())
            #expect(json["a"] == .array([.integer(1), .number(2.5), .null, .bool(true), .string("x")]))
            #expect(json["a2"]["b"].int == 1_000)
            for _ in 0..<3 { await #expect(throws: HTTPError.self) { try await service.fetch(Anything()) } }
        }
    }
}
