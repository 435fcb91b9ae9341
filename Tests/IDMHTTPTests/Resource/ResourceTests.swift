import Foundation
import IDMCore
import IDMHTTPTesting
import IDMTesting
import Synchronization
import TestSupport
import Testing

@testable import IDMHTTP

private struct City: Codable, Equatable, Sendable {
    let name: String
    var size: Int?
}

private struct Cities: DecodableResource {
    var continent = "europe"
    var invalidElements = InvalidElementPolicy.fail
    typealias Value = [City]
    var request: ServiceRequest {
        ServiceRequest(.get, "/{continent}.json", pathParameters: ["continent": continent])
    }
    var rootKeyPath: String? { "data.cities" }
}

@Suite("A resource", .fewAtOnce, .timeLimit(.ample))
struct ResourceTests {
    private static let cities = #"{"data":{"cities":[{"name":"Oslo"},{"name":"Rome","size":3}]}}"#

    private func fault<Resource: HTTPResource>(
        _ resource: Resource, _ body: String, status: Int = 200
    ) async throws -> HTTPError.DecodingFault? {
        do {
            _ = try await HTTPService(ScriptedTransport(status: status, body)).fetch(resource)
        } catch let error as HTTPError {
            if case .decoding(let fault) = error.reason { return fault }
            Issue.record("\(error)")
        }
        return nil
    }

    @Test("a resource is fetched and decoded at its key path")
    func decodable() async throws {
        let transport = ScriptedTransport(Self.cities)

        let cities = try await HTTPService(transport).fetch(Cities())

        #expect(cities == [City(name: "Oslo"), City(name: "Rome", size: 3)])
        #expect(transport.asked.first?.url.absoluteString == "https://h/v1/europe.json")
    }

    @Test("a resource is the input of its provider and integrator")
    func provider() async throws {
        let service = try HTTPService(ScriptedTransport(Self.cities))
        let names = Integrator(service.provider(for: Cities.self).map { $0.map(\.name) })

        #expect(try await names.request(Cities()) == ["Oslo", "Rome"])
    }

    @Test("with a byte order mark is read all the same")
    func mark() async throws {
        #expect(try await HTTPService(ScriptedTransport("\u{FEFF}" + Self.cities)).fetch(Cities()).count == 2)
    }

    @Test("fails whole with one bad element, and says which one")
    func badElement() async throws {
        let body = #"{"data":{"cities":[{"name":"Oslo"},{"name":7},{"name":"Rome"}]}}"#
        let fault = try await fault(Cities(), body)

        #expect(fault?.path == "data.cities.1.name")
        #expect(fault?.excerpt == body)
    }

    @Test("invalid elements are skipped and reported")
    func skipped() async throws {
        let body = #"{"data":{"cities":[null,{"name":"Oslo"},{"name":7},[],"x",{"size":1},{"name":"Rome"}]}}"#
        let service = try HTTPService(ScriptedTransport(body))
        let told = Mutex(0)

        #expect(try await service.fetch(Cities(invalidElements: .skip)).map(\.name) == ["Oslo", "Rome"])
        let cities = Cities(invalidElements: .skip { _ in told.withLock { $0 += 1 } })
        #expect(try await service.fetch(cities).count == 2)
        #expect(told.withLock { $0 } == 5)
    }

    @Test(
        "a value that isn't an array fails, also when elements are skipped",
        arguments: [
            #"{"data":{"cities":{}}}"#, #"{"data":{"cities":null}}"#, #"{"data":{}}"#,
        ])
    func noArray(body: String) async throws {
        #expect(try await fault(Cities(invalidElements: .skip), body)?.path == "data.cities")
    }

    @Test(
        "an unexpected body is described in the error",
        arguments: [
            ("", "", "the body is empty"), (" \n", "", "the body is empty"),
            ("<html>no</html>", "", "the body is markup"),
            (#"{"data":{}}"#, "data.cities", "there is no such key"), ("{}", "data", "there is no such key"),
        ])
    func reasons(body: String, path: String, reason: String) async throws {
        let fault = try await fault(Cities(), body)
        #expect(fault?.path == path && fault?.reason == reason)
    }

    #if canImport(FoundationNetworking)
    @Test(
        "an error of unreadable JSON shows only its beginning",
        arguments: [
            (#"{"data":{"cities":[{"name":"x","size":1.5}]}}"#, "a number doesn't fit its type"),
            (#"{"data":{"cities":[{"name":"x","size":99999999999999999999}]}}"#, "a number doesn't fit its type"),
            ("\u{FEFF}" + #"{"data":{"cities":[{"name":"x","size":1.5}]}}"#, "a number doesn't fit its type"),
            (#"{"data":{"cities":[{"name":"x","size":}]}}"#, "the JSON is broken at character 38"),
            ("{'data':7}", "the JSON is broken at character 1"), ("[1,2", "the JSON ends too early"),
            (#"{"data":{"cities":[{"name":"x","size":1e400}]}}"#, "a number doesn't fit its type"),
            (#"{"data":{"cities":[{"name":"\uTOPS"}]}}"#, "the JSON is broken"),
        ])
    func brokenJSON(body: String, reason: String) async throws {
        let fault = try await fault(Cities(), body)
        #expect(fault?.path == "" && fault?.reason == reason)
    }
    #endif

    @Test(
        "an unreadable body is an error without a trap",
        arguments: [
            "{", "[", "nul", "\"\\ud800\"", #"{"data":"#, "\0", String(repeating: #"{"data":"#, count: 50_000),
            #"{"data":{"cities":[{"name":"x","size":1e400}]}}"#, #"{"data":{"cities":[{"name":"x","size":1.5}]}}"#,
            #"{"data":{"cities":[{"name":"x","size":NaN}]}}"#, "[]", "7",
        ])
    func garbage(body: String) async throws {
        #expect(try await fault(Cities(), body) != nil)
    }

    @Test("whose text isn't UTF-8 ends in an error")
    func charset() async throws {
        let latin = Data(#"{"data":{"cities":[{"name":"K"#.utf8) + [0xF8] + Data(#"benhavn"}]}}"#.utf8)
        let service = try HTTPService(ScriptedTransport { _ in .init(status: 200, body: HTTPBytes(latin)) })

        await #expect(throws: HTTPError.self) { try await service.fetch(Cities()) }
    }

    @Test("an error shows no secret value")
    func secretValues() async throws {
        enum Kind: String, Decodable { case known }
        struct Login: DecodableResource {
            struct Value: Decodable { let accessToken: Kind }
            var request: ServiceRequest { ServiceRequest(.get, "/") }
        }
        let fault = try #require(try await fault(Login(), #"{"accessToken":"s3cret"}"#))

        #expect(fault.path == "accessToken" && fault.reason == "the value is secret")
        #expect(!"\(fault)".contains("s3cret"))

        struct Pairs: DecodableResource {
            struct Value: Decodable { let value: Kind }
            var request: ServiceRequest { ServiceRequest(.get, "/") }
            var rootKeyPath: String? { "headers.0" }
        }
        for (name, shows) in [("token", false), ("Accept", true)] {
            let fault = try await self.fault(Pairs(), #"{"headers":[{"value":"s3cret","name":"\#(name)"}]}"#)
            #expect(fault?.path == "headers.0.value" && "\(fault as Any)".contains("s3cret") == shows)
        }

        struct Pin: ParsedResource {
            var request: ServiceRequest { ServiceRequest(.get, "/") }
            var parser: ResourceParser<Int> { ObjectParser { try $0.require(\.int) }.object(at: "data.pin") }
        }
        let parsed = try await self.fault(Pin(), #"{"data":{"pin":"s3cret"}}"#)
        #expect(parsed?.path == "data.pin" && parsed?.reason == "the value is secret")
    }

    @Test("of an unknown case says so, and where")
    func unknownCase() async throws {
        enum Kind: String, Decodable { case known }
        struct Thing: DecodableResource {
            struct Value: Decodable { let kind: Kind }
            var request: ServiceRequest { ServiceRequest(.get, "/") }
        }
        let fault = try await fault(Thing(), #"{"kind":"new"}"#)

        #expect(fault?.path == "kind" && fault?.reason.contains("new") == true)
    }

    @Test("may have a decoder of its own")
    func decoder() async throws {
        struct Snake: DecodableResource {
            struct Value: Decodable { let firstName: String }
            var request: ServiceRequest { ServiceRequest(.get, "/") }
            var decoder: JSONDecoder {
                let decoder = JSONDecoder()
                decoder.keyDecodingStrategy = .convertFromSnakeCase
                return decoder
            }
        }
        #expect(try await HTTPService(ScriptedTransport(#"{"first_name":"Ada"}"#)).fetch(Snake()).firstName == "Ada")
    }

    @Test("may have rules of its own, before those of the service")
    func rules() async throws {
        struct Maybe: DataResource {
            var request: ServiceRequest { ServiceRequest(.get, "/") }
            var rules: [ResponseRule] { [.accept([404])] }
        }
        let service = try HTTPService(ScriptedTransport(status: 404, "none"), rules: [.status(in: 200..<300)])

        #expect(try await service.fetch(Maybe()) == Data("none".utf8))
        await #expect(throws: HTTPError.self) { try await service.fetch(Cities()) }
    }

    @Test("schemaless JSON is read as value, array or dictionary")
    func anyShape() async throws {
        struct Tree: JSONObjectResource {
            var request: ServiceRequest { ServiceRequest(.get, "/") }
        }
        struct Object: JSONObjectResource {
            typealias Value = [String: ServiceJSON]
            var request: ServiceRequest { ServiceRequest(.get, "/") }
        }
        struct List: JSONObjectResource {
            typealias Value = [ServiceJSON]
            var request: ServiceRequest { ServiceRequest(.get, "/") }
            var rootKeyPath: String? { "data.cities" }
        }
        let service = try HTTPService(ScriptedTransport(Self.cities))

        #expect(try await service.fetch(Tree())["data"]["cities"][0]["name"].string == "Oslo")
        #expect(try await service.fetch(Object())["data"]?["cities"].array?.count == 2)
        #expect(try await service.fetch(List()).map { $0["name"].string } == ["Oslo", "Rome"])
        #expect(try await fault(Object(), "[]")?.path == "")
    }

    @Test("may be a property list")
    func propertyList() async throws {
        struct List: PropertyListResource {
            typealias Value = [City]
            var request: ServiceRequest { ServiceRequest(.get, "/") }
            var rootKeyPath: String? { "cities" }
        }
        let list = try PropertyListEncoder().encode(["cities": [City(name: "Oslo", size: 1)]])
        let service = try HTTPService(ScriptedTransport { _ in .init(status: 200, body: HTTPBytes(list)) })

        #expect(try await service.fetch(List()) == [City(name: "Oslo", size: 1)])
        #expect(try await fault(List(), "{}") != nil)
    }

    @Test("a property list has a custom decoder and skips invalid elements")
    func propertyListElements() async throws {
        struct Named: Decodable {
            let name: String

            init(from decoder: any Decoder) throws {
                let names = CodingUserInfoKey(rawValue: "names").flatMap { decoder.userInfo[$0] as? [String] } ?? []
                name = names[try decoder.singleValueContainer().decode(Int.self)]
            }
        }
        struct List: PropertyListResource {
            typealias Value = [Named]
            var invalidElements = InvalidElementPolicy.fail
            var request: ServiceRequest { ServiceRequest(.get, "/") }
            var rootKeyPath: String? { "cities" }
            var decoder: PropertyListDecoder {
                let decoder = PropertyListDecoder()
                if let key = CodingUserInfoKey(rawValue: "names") { decoder.userInfo[key] = ["Oslo", "Rome"] }
                return decoder
            }
        }
        let body = "<plist><dict><key>cities</key><array><integer>1</integer><string>x</string></array></dict></plist>"
        let service = try HTTPService(ScriptedTransport(body))

        #expect(try await service.fetch(List(invalidElements: .skip)).map(\.name) == ["Rome"])
        #expect(try await fault(List(), body)?.path == "cities.1")
    }

    @Test("may be in a file, under the same reading")
    func file() async throws {
        struct Local: FileResource, DecodableReading {
            typealias Value = [City]
            let file: URL
            var rootKeyPath: String? { "data.cities" }
        }
        let folder = try TemporaryFolder()
        let local = Local(file: try folder.file("cities.json", Self.cities))

        #expect(try await local.fetch().map(\.name) == ["Oslo", "Rome"])
        #expect(try await FileDataProvider<Local>().request(local).count == 2)
        let missing = await #expect(throws: HTTPError.self) {
            try await Local(file: folder.url.appendingPathComponent("none.json")).fetch()
        }
        #expect(missing?.request == "file none.json")
        let bad = await #expect(throws: HTTPError.self) {
            try await Local(file: folder.file("bad.json", "{}")).fetch()
        }
        #expect(
            bad?.description == "file bad.json: The body can't be read at data: there is no such key. It begins: {}")
    }

    private struct Bytes: FileResource, DataReading {
        let file: URL
    }

    @Test("a file is read off the cooperative pool")
    func fileThread() async throws {
        let folder = try TemporaryFolder()
        let (file, turns) = (try folder.file("a", "hello"), Turns())
        let body = Task(executorPreference: turns) { try await Bytes(file: file).fetch() }
        try await turns.next()
        // A second turn is due once the file has been read: by nobody who had the first one.
        try await turns.jobs.wait { !$0.isEmpty }
        try FileManager.default.removeItem(at: file)
        try await turns.next()
        #expect(try await body.value == Data("hello".utf8))
    }

    @Test("in a file is on this machine: nothing else is asked for it")
    func foreignFile() async throws {
        try await LoopbackServer.run { server in
            let error = await #expect(throws: HTTPError.self) { try await Bytes(file: server.url("/a")).fetch() }
            #expect(error?.request == "file a" && server.journal.connectionCount == 0)
        }
    }

    @Test("may be read by one parser in many envelopes")
    func parsers() async throws {
        let city = ObjectParser { City(name: try $0["name"].require(\.string), size: $0["size"].int) }
        struct Parsed<Value: Sendable>: ParsedResource {
            let parser: ResourceParser<Value>
            var request: ServiceRequest { ServiceRequest(.get, "/") }
        }
        let service = try HTTPService(ScriptedTransport(Self.cities))

        #expect(try await service.fetch(Parsed(parser: city.list(at: "data.cities"))).count == 2)
        #expect(try await service.fetch(Parsed(parser: city.object(at: "data.cities.1"))).size == 3)
        #expect(try city.list().parse(Data(#"[{"name":"Bern"}]"#.utf8)) == [City(name: "Bern")])
        #expect(try city.object().parse(Data(#"{"name":"Bern"}"#.utf8)).name == "Bern")
        #expect(try city.object().parse(Data("\u{FEFF}{\"name\":\"Bern\"}".utf8)).name == "Bern")

        let bad = #"{"items":[{"name":"Bern"},{},7]}"#
        #expect(try await fault(Parsed(parser: city.list(at: "items")), bad)?.path == "items.1")
        #expect(try city.list(at: "items", invalidElements: .skip).parse(Data(bad.utf8)).count == 1)
        #expect(
            try await fault(Parsed(parser: city.object(at: "items.2")), bad)?.reason
                == "there is no String, but nothing")
    }

    @Test("a cancelled task doesn't parse")
    func cancelled() async throws {
        struct Cancels: HTTPResource {
            var request: ServiceRequest { ServiceRequest(.get, "/") }
            func value(from body: Data) throws -> Int { throw CancellationError() }
        }
        let service = try HTTPService(ScriptedTransport("1"))
        await #expect(throws: CancellationError.self) { try await service.fetch(Cancels()) }
    }
}

/// Types of an app that isolates its declarations to the main actor. What the library calls elsewhere is nonisolated.
@MainActor
private struct Notes: DecodableResource {
    typealias Value = [String]
    nonisolated var request: ServiceRequest { ServiceRequest(.get, "/notes") }
}

@MainActor
private final class Greeting: HTTPInterceptor {
    nonisolated func intercept(_ request: ServiceRequest, next: InterceptorChain) async throws -> ServiceResponse {
        var response = try await next(request)
        response.body = Data(response.text.replacing("Ada", with: "Hello, Ada").utf8)
        return response
    }
}

@MainActor
private struct Titles: DataModel {
    let texts: [String]
    nonisolated init(from source: [String]) { texts = source }
}

@Suite("Types isolated to the main actor", .timeLimit(.ample))
@MainActor
struct MainActorTypeTests {
    @Test("a resource, an interceptor and a model of the main actor serve a service")
    func served() async throws {
        let service = try HTTPService(ScriptedTransport(#"["Ada"]"#), interceptors: [Greeting()])
        let titles = Integrator(service.provider(Notes()), model: Titles.self)

        #expect(try await titles.request().texts == ["Hello, Ada"])
    }
}
