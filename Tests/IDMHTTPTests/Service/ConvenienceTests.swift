import Foundation
import IDMCore
import IDMHTTPTesting
import IDMTesting
import Synchronization
import TestSupport
import Testing

@testable import IDMHTTP

/// Shows that a call site compiles and does what it says.
@Suite("A service, as it is called", .fewAtOnce, .timeLimit(.ample))
struct ConvenienceTests {
    private struct User: Decodable, Equatable, Sendable {
        var name: String
    }

    private struct GetUser: DecodableResource {
        var id = 1
        typealias Value = User
        var request: ServiceRequest { ServiceRequest(.get, "/users/:id", pathParameters: [":id": id]) }
        var rootKeyPath: String? { "data" }
    }

    /// Not Decodable: only its own `value(from:)` can make it.
    private struct Plain: Equatable, Sendable {
        var names: [String]
    }

    private struct PlainResource: JSONObjectResource {
        var request: ServiceRequest { ServiceRequest(.get, "/users") }
        var rootKeyPath: String? { "data" }
        func value(from body: Data) throws -> Plain { Plain(names: [try json(from: body)["name"].string ?? ""]) }
    }

    private func service(_ transport: ScriptedTransport) throws -> HTTPService { try HTTPService(transport) }

    @Test("a value is requested, decoded and provided in one line each")
    func values() async throws {
        let transport = ScriptedTransport(#"{"data":{"name":"Ada"}}"#)
        let service = try service(transport)

        let users = [
            try await service.request(ServiceRequest(.get, "/a"), as: User.self, at: "data"),
            try await service.request(ServiceRequest(.get, "/a")).decoded(as: User.self, at: "data"),
            try await service.request(ServiceRequest(.get, "/a")).decoded(at: "data"),
            try await Integrator(service.provider(GetUser())).request(),
            try await Integrator(service.provider { GetUser(id: $0) }).request(7),
        ]

        #expect(users == Array(repeating: User(name: "Ada"), count: 5))
        #expect(transport.asked.map(\.url.path).suffix(2) == ["/v1/users/1", "/v1/users/7"])
    }

    @Test("a body that isn't the value fails with its place", arguments: [true, false])
    func wrongValue(isResponse: Bool) async throws {
        let service = try service(ScriptedTransport(#"{"data":{"name":1}}"#))
        let error: (any Error)?
        do {
            if isResponse {
                _ = try await service.request(ServiceRequest(.get, "/a")).decoded(as: User.self, at: "data")
            } else {
                _ = try await service.request(ServiceRequest(.get, "/a"), as: User.self, at: "data")
            }
            error = nil
        } catch let found { error = found }
        #expect("\(try #require(error))".contains("data.name"))
    }

    @Test("a JSON resource uses its own value(from:), whatever that returns")
    func plainResource() async throws {
        let value = try await service(ScriptedTransport(#"{"data":{"name":"Ada"}}"#)).fetch(PlainResource())
        #expect(value == Plain(names: ["Ada"]))
    }

    @Test("path parameters take numbers, identifiers and lists, under names with a colon and without")
    func pathParameters() throws {
        let id = UUID()
        var request = ServiceRequest(
            .get, "/:a/{b}/{c}/:d", pathParameters: [":a": 1, "b": 2.5, "c": ["x", "y"], ":d": id])
        #expect(request.pathParameters == ["a": "1", "b": "2.5", "c": "x,y", "d": id.uuidString])
        request.pathParameters[":a"] = "3"
        #expect(try api("https://h").resolve(request).url.absoluteString == "https://h/3/2.5/x%2Cy/\(id.uuidString)")
    }

    @Test("JSON is written in place and converts to and from dictionaries")
    func json() throws {
        let json: ServiceJSON = ["name": "Ada", "age": 36, "size": 1.5, "on": true, "tags": ["a", 1], "none": nil]
        let object: [String: Any] = [
            "name": "Ada", "age": 36, "size": 1.5, "on": true, "tags": ["a", 1] as [Any], "none": NSNull(),
        ]
        #expect(try ServiceJSON(jsonObject: object) == json)
        #expect(try ServiceJSON(jsonObject: json.jsonObject) == json)
        let data = try JSONSerialization.data(withJSONObject: json.jsonObject)
        #expect(try ServiceJSON(jsonObject: JSONSerialization.jsonObject(with: data)) == json)
        #expect(throws: HTTPError.DecodingFault(path: "a.1", reason: "a Date isn't JSON")) {
            try ServiceJSON(jsonObject: ["a": [1, Date()] as [Any]])
        }
    }

    @Test("a body takes mixed JSON in place")
    func jsonBody() throws {
        let body: RequestBody = .json(["name": "Ada", "age": 36, "tags": [], "boss": nil])
        let data = try #require(try body.encoded().data)
        #expect(
            try JSONDecoder().decode(ServiceJSON.self, from: data)
                == ["name": "Ada", "age": 36, "tags": [], "boss": nil])
    }

    @Test("the upload of a plain request reports its progress")
    func uploadProgress() async throws {
        let fractions = Mutex<[Double]>([])
        try await withServer { server, service in
            server.on(.post, "/up", answer: .text(""))
            let call = Integrator(service).prepareCall(
                ServiceRequest(.post, "/up", body: .bytes(Data(count: 300_000)))
            ).onProgress { progress in fractions.withLock { $0.append(progress.fraction) } }
            _ = try await call.call().value
        }
        #expect(fractions.withLock { $0 }.last == 1)
    }

    @Test(
        "an address of its own leaves the service's secrets at home",
        arguments: ["https://cdn.example.com/i", "https://h/i"])
    func absoluteURL(address: String) async throws {
        let transport = ScriptedTransport("image")
        var service = try service(transport)
        service.configuration.headers = ["X-API-Key": "s3cret", "Accept-Language": "en"]
        service.interceptors = [
            AuthenticationInterceptor(
                BearerAuthenticator(), for: service.configuration.baseURL, credential: "token")
        ]

        _ = try await service.request(ServiceRequest(url: try #require(URL(string: address)), query: ["size": 2]))

        let isHome = address == "https://h/i"
        let sent = try #require(transport.asked.first)
        #expect(sent.url.absoluteString == address + "?size=2" && sent.headers["Accept-Language"] == "en")
        #expect((sent.headers["X-API-Key"] != nil) == isHome && (sent.headers[.authorization] != nil) == isHome)
    }

    @Test("one request goes without the credential")
    func withoutAuthentication() async throws {
        let transport = ScriptedTransport("x")
        var service = try service(transport)
        service.interceptors = [
            AuthenticationInterceptor(BearerAuthenticator(), for: service.configuration.baseURL, credential: "token")
        ]

        _ = try await service.request(ServiceRequest(.get, "/a"))
        _ = try await service.request(ServiceRequest(.get, "/a").withoutAuthentication())

        #expect(transport.asked.map { $0.headers[.authorization] } == ["Bearer token", nil])
    }

    @Test("a key with a space is sent, an unusable key is named")
    func headerKey() async throws {
        let transport = ScriptedTransport("x")
        var service = try service(transport)
        func authentication(_ key: String) -> AuthenticationInterceptor<HeaderAuthenticator> {
            AuthenticationInterceptor(
                HeaderAuthenticator("Authorization"), for: service.configuration.baseURL, credential: key)
        }
        service.interceptors = [authentication("Token abc")]
        _ = try await service.request(ServiceRequest(.get, "/a"))
        #expect(transport.asked.first?.headers[.authorization] == "Token abc")
        for key in ["", " abc", "abc ", "a\nb", "é"] {
            service.interceptors = [authentication(key)]
            await #expect(throws: AuthenticationError.self) { try await service.request(ServiceRequest(.get, "/a")) }
        }
    }
}
