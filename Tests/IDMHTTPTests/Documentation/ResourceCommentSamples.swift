import Foundation
import IDMHTTP
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

extension Surroundings {
    private static func resource(_ service: HTTPService) async throws -> [City] {
        // sample: a resource that decodes itself
        struct CitiesResource: DecodableResource {
            let continent: String
            var request: ServiceRequest {
                ServiceRequest(.get, "/{continent}.json", pathParameters: ["continent": continent])
            }
            typealias Value = [City]
            var rootKeyPath: String? { "cities" }
        }
        // end
        return try await service.fetch(CitiesResource(continent: "europe"))
    }

    @MainActor
    private static func file() async throws {
        // sample: a bundled file
        struct BundledCities: FileResource, DecodableReading {
            let file: URL
            typealias Value = [City]
        }

        if let file = Bundle.main.url(forResource: "cities", withExtension: "json") {
            show(try await BundledCities(file: file).fetch())
        }
        // end
    }

    private static func parser(_ service: HTTPService) async throws -> [(String, Int)] {
        // sample: a parser of objects
        struct City {
            let name: String
            let size: Int

            static let parser = ObjectParser { City(name: try $0["name"].require(\.string), size: $0["size"].int ?? 0) }
        }

        struct CitiesResource: ParsedResource {
            var request: ServiceRequest { ServiceRequest(.get, "/cities") }
            var parser: ResourceParser<[City]> { City.parser.list(at: "data.items", invalidElements: .skip) }
        }
        // end
        return try await service.fetch(CitiesResource()).map { ($0.name, $0.size) }
    }

    @Suite("The samples of the comments on resources", .timeLimit(.ample))
    struct ResourceCommentSamples {
        @Test("Cities come out of their envelope, and those that are none are skipped")
        func envelopes() async throws {
            let transport = StubTransport()
            transport.on(.get, "/v1/europe.json", answer: .json(#"{"cities": [{"name": "Oslo"}]}"#))
            let items = #"[{"name": "Bern", "size": 5}, {"size": 6}, {"name": "Graz"}]"#
            transport.on(.get, "/v1/cities", answer: .json(#"{"data": {"items": \#(items)}}"#))
            let service = HTTPService(configuration: try api(), transport: transport)

            #expect(try await resource(service).map(\.name) == ["Oslo"])
            let parsed = try await parser(service)
            #expect(parsed.map(\.0) == ["Bern", "Graz"] && parsed.map(\.1) == [5, 0])
        }
    }
}
