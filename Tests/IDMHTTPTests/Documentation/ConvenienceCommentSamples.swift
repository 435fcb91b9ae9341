import Foundation
import IDMCore
import IDMHTTP

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Surroundings {
    private static func values(_ service: HTTPService, _ response: ServiceResponse) async throws -> (User, Tokens) {
        // sample: a request for a value
        let request = ServiceRequest(.get, "/users/{id}", pathParameters: ["id": 42])
        let user = try await service.request(request, as: User.self)
        // end
        // sample: a decoded response
        let tokens = try response.decoded(as: Tokens.self, at: "data.tokens")
        // end
        return (user, tokens)
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

    private static func events(_ service: HTTPService) async throws {
        func show(_ text: String) {}
        // sample: events over several connections
        for try await event in service.events(ServiceRequest(.get, "/feed")) { show(event.data) }
        // end
    }

    private static func json() throws -> ServiceJSON {
        // sample: a JSON object
        let json = try ServiceJSON(jsonObject: ["name": "Ada", "age": 36] as [String: Any])
        // end
        return json
    }

    private static func cache(_ cachesFolder: URL, _ configuration: inout ServiceConfiguration) {
        // sample: a cache in a folder
        configuration.cache = HTTPCache(folder: cachesFolder.appending(path: "http"))
        // end
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

    private static func redirects(_ configuration: inout ServiceConfiguration) {
        // sample: bodies for other origins
        configuration.redirects.sendsBodiesToOtherOrigins = true
        // end
    }

    private static func requests(_ service: HTTPService, _ imageURL: URL, _ user: String, _ password: String)
        async throws
    {
        // sample: an address of the caller's own
        let image = try await service.request(ServiceRequest(url: imageURL)).body
        // end
        // sample: a login
        let login = ServiceRequest(.post, "/login", body: .form(["user": user, "password": password]))
        let tokens = try await service.request(login.withoutAuthentication(), as: Tokens.self)
        // end
        _ = (image, tokens)
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

    private static func login(_ service: inout HTTPService, _ screens: Screens) {
        // sample: a policy for logging in
        service.interceptors.insert(.unauthorized { _ in await screens.showLogin() }, at: 0)
        // end
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
