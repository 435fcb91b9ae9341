import Foundation
import IDMCore
import IDMHTTP
import IDMOperations

nonisolated let basket = URL(filePath: "/tmp/basket.json")

// sample: a resource that decodes
nonisolated struct City: Codable, Equatable, Sendable {
    let name: String
    let population: Int
}

struct CitiesResource: DecodableResource {
    let country: String

    typealias Value = [City]
    var request: ServiceRequest {
        ServiceRequest(
            .get, "/countries/:country/cities", pathParameters: ["country": country],
            query: ["sort": "name"], headers: ["Accept": "application/json"])
    }
    var rootKeyPath: String? { "data.cities" }
    var invalidElements: InvalidElementPolicy { .skip }
}
// end

// sample: a resource read from dictionaries
struct MayorsResource: ParsedResource {
    let request = ServiceRequest(.get, "/mayors")

    typealias Value = [String]
    var parser: ResourceParser<[String]> {
        ObjectParser { json in try json["name"].require(\.string) }.list(at: "mayors")
    }
}
// end

// sample: a resource read by hand
nonisolated struct Pixels: Sendable {
    let bytes: Data
}

struct ImageResource: HTTPResource {
    let url: URL

    var request: ServiceRequest { ServiceRequest(url: url) }
    func value(from body: Data) throws -> Pixels {
        guard !body.isEmpty else { throw URLError(.cannotDecodeContentData) }
        return Pixels(bytes: body)
    }
}
// end

// sample: rules of one resource
struct DraftResource: DecodableResource {
    typealias Value = Note?
    let request = ServiceRequest(.get, "/draft")
    var rules: [ResponseRule] { [.status(in: 200...200)] }
}
// end

// sample: a resource in a file
struct BundledCities: FileResource, DecodableReading {
    let file: URL

    typealias Value = [City]
    var rootKeyPath: String? { "data.cities" }
}
// end

@MainActor
private func load(_ service: HTTPService, show: @escaping @MainActor ([City]) -> Void) async throws {
    // sample: fetched
    let cities = try await service.fetch(CitiesResource(country: "pt"))
    // end
    show(cities)

    // sample: fetched with handlers
    let search = Integrator(service.provider(for: CitiesResource.self), executing: .latest)
    let task = search.prepareCall(CitiesResource(country: "pt"))
        .onSuccess { cities in show(cities) }
        .onError { error in print(error.localizedDescription) }
        .call()
    task.cancel()
    // end

    // sample: an operation
    let operation = DataProviderOperation(
        service.provider(for: CitiesResource.self), CitiesResource(country: "pt")
    )
    .onSuccess { cities in show(cities) }
    OperationQueue.main.addOperation(operation)
    // end

    let file = basket
    // sample: fetched from a file
    let bundled = try await BundledCities(file: file).fetch()
    // end
    show(bundled)
}
