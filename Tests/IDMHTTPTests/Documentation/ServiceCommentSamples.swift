import Foundation
import IDMCore
import IDMHTTP

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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

    private static func request(id: String) -> ServiceRequest {
        // sample: a request
        let request = ServiceRequest(.get, "/users/{id}/posts", pathParameters: ["id": id], query: ["page": 2])
        // end
        return request
    }

    private static func headers() -> ServiceHeaders {
        // sample: a header
        var headers: ServiceHeaders = ["Accept": "application/json"]
        headers[.acceptLanguage] = "en"
        headers.add("Cache-Control", "no-cache")
        // end
        return headers
    }

    private static func json(_ json: ServiceJSON) -> String? {
        // sample: a piece of JSON
        let name = json["user"]["names"][0].string
        // end
        return name
    }

    private static func policy(_ service: inout HTTPService, _ screens: Screens) {
        // sample: a policy for maintenance
        service.interceptors.insert(.maintenance { error in await screens.showMaintenance() }, at: 0)
        // end
    }

    private static func values(_ service: HTTPService) async throws -> User {
        // sample: a request for a value
        let request = ServiceRequest(.get, "/users/{id}", pathParameters: ["id": 42])
        let user = try await service.request(request, as: User.self)
        // end
        return user
    }

    private static func providers(_ service: HTTPService) {
        struct GetNotes: DecodableResource {
            typealias Value = [String]
            var request: ServiceRequest { ServiceRequest(.get, "/notes") }
        }
        struct SearchRepos: DecodableResource {
            typealias Value = [String]
            let text: String
            var request: ServiceRequest { ServiceRequest(.get, "/repos", query: ["text": text]) }
        }
        // sample: a provider of a resource
        let notes = Integrator(service.provider(GetNotes()))
        // end
        // sample: a provider with an input
        let search = Integrator(service.provider { SearchRepos(text: $0) }, executing: .latest)
        // end
        _ = (notes, search)
    }

    private static func names(_ service: HTTPService) async throws -> [String] {
        // sample: a resource of any shape
        struct Names: JSONObjectResource {
            var request: ServiceRequest { ServiceRequest(.get, "/users") }

            func value(from body: Data) throws -> [String] {
                try json(from: body)["users"].array?.compactMap(\.string) ?? []
            }
        }
        // end
        return try await service.fetch(Names())
    }

    private static func requests(_ service: HTTPService, _ user: String, _ password: String)
        async throws
    {
        // sample: a login
        let login = ServiceRequest(.post, "/login", body: .form(["user": user, "password": password]))
        let tokens = try await service.request(login.withoutAuthentication(), as: Tokens.self)
        // end
        _ = tokens
    }

    private static func refreshes(_ baseURL: URL, _ keychain: Keychain, _ saved: Keychain.Tokens?) {
        typealias Tokens = Keychain.Tokens
        // sample: credentials that are saved
        let scheme = BearerAuthenticator<Tokens>(token: \.access, expiry: \.expiry) { old, next in
            let request = ServiceRequest(.post, "/token", body: .form(["refresh": old.refresh]))
            return try await next(request).decoded(as: Tokens.self)
        }
        let authentication = AuthenticationInterceptor(scheme, for: baseURL, credential: saved) { tokens in
            await keychain.save(tokens)
        }
        // end
        _ = authentication
    }

    private static func session(_ api: ServiceConfiguration) -> HTTPService {
        // sample: a transport with settings
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 2
        let service = HTTPService(configuration: api, transport: URLSessionTransport(configuration: configuration))
        // end
        return service
    }

    #if os(Linux)
    private static func curl(_ configuration: ServiceConfiguration) throws -> HTTPService {
        // sample: a transport with certificates
        let transport = try CurlTransport(certificates: URL(fileURLWithPath: "/etc/company/ca.pem"))
        let service = HTTPService(configuration: configuration, transport: transport)
        // end
        return service
    }
    #endif
}

/// A place for credentials.
private actor Keychain {
    struct Tokens: Codable, Sendable {
        let access: String
        let refresh: String
        let expiry: Date?
    }

    private var tokens: Tokens?

    func save(_ tokens: Tokens) { self.tokens = tokens }
}
