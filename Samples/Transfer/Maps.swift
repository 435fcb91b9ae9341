import Foundation
import IDMHTTPTesting

/// The bundled server: generated maps, sent at a limited rate.
enum Maps {
    static let names = ["africa.map", "americas.map", "asia.map", "europe.map", "oceania.map"]

    static func server(megabytesPerSecond: Double) throws -> LoopbackServer {
        let server = try LoopbackServer()
        let pace = Duration.seconds(65_536 / (megabytesPerSecond * 1e6))
        for (number, name) in names.enumerated() {
            let map = LoopbackServer.Resource(length: 1_000_000 * (number + 2), eTag: "\"\(name)-1\"")
            server.on(.get, "/\(name)", answer: .resource(map).dripping(65_536, every: pace, on: ContinuousClock()))
        }
        return server
    }
}
