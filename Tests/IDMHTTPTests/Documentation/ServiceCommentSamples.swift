import Foundation
import IDMHTTP
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

extension Surroundings {
    private static func service(_ url: URL) async throws {
        // sample: a service and a request
        let service = HTTPService(configuration: ServiceConfiguration(baseURL: url))
        let response = try await service.request(ServiceRequest(.get, "/users/{id}", pathParameters: ["id": "42"]))
        // end
        _ = response
    }

    private static func copy(_ shared: HTTPService, _ searchURL: URL) -> HTTPService {
        // sample: a service that shares
        var search = shared
        search.configuration.baseURL = searchURL
        search.rules.insert(.failureBody(SearchFailure.self), at: 0)
        // end
        return search
    }

    private static func lines(_ service: HTTPService) async throws {
        // sample: lines as they come
        let stream = try await service.open(ServiceRequest(.get, "/log"))
        for try await line in stream.bytes.lines() { print(line) }
        // end
    }

    private static func events(_ service: HTTPService) async throws {
        // sample: events as they come
        let stream = try await service.open(ServiceRequest(.get, "/events"))
        for try await event in stream.bytes.events() { print(event.data) }
        // end
    }

    private static func configuration(_ url: URL) -> ServiceConfiguration {
        // sample: a configuration
        var configuration = ServiceConfiguration(baseURL: url, headers: ["Accept-Language": "en"])
        configuration.idleTimeout = .seconds(20)
        // end
        return configuration
    }

    private static func cookies(_ plain: ServiceConfiguration) -> ServiceConfiguration {
        var configuration = plain
        // sample: a place for cookies
        configuration.cookies = ServiceCookies()
        // end
        return configuration
    }

    private static func rules() -> [ResponseRule] {
        // sample: rules of an API
        let rules: [ResponseRule] = [
            .envelope(Envelope.self) { $0.code == 0 ? nil : APIFailure(code: $0.code) },
            .failureBody(APIFailure.self),
        ]
        // end
        return rules
    }

    private static func errors(_ service: HTTPService, _ request: ServiceRequest) async throws {
        // sample: an error of one status
        do {
            let response = try await service.request(request)
            print(response.text)
        } catch let error as HTTPError where error.status == 404 {
            print("There is no such thing.")
        }
        // end
    }

    @Suite("The samples of the comments on services", .timeLimit(.ample))
    struct ServiceCommentSamples {
        @Test("A copy has an address and a rule of its own")
        func sharing() async throws {
            let transport = StubTransport(answer: .json(#"{"reason": "busy"}"#, status: 400))
            let shared = HTTPService(configuration: try api(), transport: transport)
            let search = copy(shared, try #require(URL(string: "https://search.example.com")))

            let failure = await #expect(throws: HTTPError.self) { try await search.request(ServiceRequest(.get, "/a")) }
            #expect(failure?.failure(as: SearchFailure.self) == SearchFailure(reason: "busy"))
            #expect(transport.requests.map(\.url.host) == ["search.example.com"])
            #expect(shared.rules.isEmpty && shared.configuration.baseURL.host == "api.example.com")
        }

        @Test("a configuration stores its settings")
        func configured() throws {
            let plain = configuration(try #require(URL(string: "https://api.example.com")))

            #expect(plain.idleTimeout == .seconds(20) && plain.headers[.acceptLanguage] == "en")
            #expect(plain.cookies == nil && cookies(plain).cookies != nil)
        }

        @Test("an envelope rule judges successes, a failure rule failures only")
        func judging() async throws {
            let configuration = try api()
            func failure(_ body: String, status: Int) async throws -> APIFailure? {
                let transport = StubTransport(answer: .json(body, status: status))
                let service = HTTPService(configuration: configuration, transport: transport, rules: rules())
                do {
                    _ = try await service.request(ServiceRequest(.get, "/a"))
                    return nil
                } catch let error as HTTPError {
                    return error.failure()
                }
            }

            #expect(try await failure(#"{"code": 0}"#, status: 200) == nil)
            #expect(try await failure(#"{"code": 7}"#, status: 200) == APIFailure(code: 7))
            #expect(try await failure(#"{"code": 0}"#, status: 500) == APIFailure(code: 0))
        }

        @Test("an error of another status passes the catch")
        func catching() async throws {
            let transport = StubTransport()
            transport.on(.get, "/v1/none", answer: .text("", status: 404))
            transport.on(.get, "/v1/down", answer: .text("", status: 500))
            let service = HTTPService(configuration: try api(), transport: transport)

            try await errors(service, ServiceRequest(.get, "/none"))
            await #expect(throws: HTTPError.self) { try await errors(service, ServiceRequest(.get, "/down")) }
        }
    }
}
