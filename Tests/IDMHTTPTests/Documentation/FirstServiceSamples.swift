import Foundation
import IDMCore
import IDMHTTP

/// What the samples take for granted.
private struct City: Decodable, Sendable {
    let name: String
}

@MainActor
private func show(_ cities: [City]) {}

@MainActor
private func firstService(_ photo: URL, _ text: String) async throws {
    let url = photo
    // sample: a service
    var configuration = ServiceConfiguration(baseURL: url, headers: ["Accept-Language": "en"])
    configuration.idleTimeout = .seconds(20)
    let service = HTTPService(configuration: configuration)
    let response = try await service.request(
        ServiceRequest(
            .get, "/users/{id}", pathParameters: ["id": "42"],
            query: ["page": 2, "tags": ["new", "free"]]))
    // end
    _ = response

    do {
        let link = photo
        // sample: a link
        let next = try await service.request(ServiceRequest(link: link))
        // end
        _ = next
    }

    do {
        // sample: bodies
        let login: RequestBody = .json(["user": "ada"])
        let search: RequestBody = .form(["q": text, "page": 1])
        let upload: RequestBody = .multipart([
            .text("title", "Sunset"), .file("photo", photo, contentType: "image/jpeg"),
        ])
        // end
        _ = [login, search, upload]
    }

    do {
        // sample: a body as it comes
        let stream = try await service.open(ServiceRequest(.get, "/events"))
        for try await event in stream.bytes.events() { print(event.event, event.data) }
        // end
    }

    do {
        // sample: a command
        let request = ServiceRequest(
            .post, "/login", body: .json(["user": "ada", "password": "secret"]))
        print(try request.curl(for: configuration))
        // end
    }

    // sample: a resource
    struct CitiesResource: DecodableResource {
        let continent: String
        var request: ServiceRequest {
            ServiceRequest(
                .get, "/{continent}.json", pathParameters: ["continent": continent])
        }
        typealias Value = [City]
        var rootKeyPath: String? { "data.cities" }
        var invalidElements: InvalidElementPolicy { .skip }
    }

    let cities = try await service.fetch(CitiesResource(continent: "europe"))
    // end
    show(cities)

    do {
        // sample: an integrator of resources
        let search = Integrator(service.provider(for: CitiesResource.self), executing: .latest)
        search.prepareCall(CitiesResource(continent: "asia"))
            .onSuccess { cities in show(cities) }
            .call()
        // end
    }

    // sample: a file in place of a server
    struct BundledCities: FileResource, DecodableReading {
        let file: URL
        typealias Value = [City]
        var rootKeyPath: String? { "data.cities" }
    }
    // end
    _ = BundledCities(file: photo)

    do {
        // sample: one parser, many envelopes
        let city = ObjectParser { json in try json["name"].require(\.string) }
        let one = city.object(at: "data.city")
        let many = city.list(at: "data.items", invalidElements: .skip)
        // end
        _ = (one, many)
    }

    do {
        let file = photo
        // sample: a configuration from a file
        let configuration = try ServiceConfiguration(
            contentsOf: file, environment: "staging", variable: "API_BASE_URL")
        // end
        _ = configuration
    }

    do {
        let shared = service
        let searchURL = photo
        // sample: services that share
        var search = shared
        search.configuration.baseURL = searchURL
        search.rules.insert(.status(in: 200...200), at: 0)
        // end
        _ = search
    }
}
