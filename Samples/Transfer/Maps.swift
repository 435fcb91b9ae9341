import Foundation
import IDMTesting

/// The server that comes with the sample: maps that are made up, sent at a leisurely pace.
struct Maps {
    static let names = ["africa.map", "americas.map", "asia.map", "europe.map", "oceania.map"]

    private let server: LoopbackServer

    init(megabytesPerSecond: Double) throws {
        server = try LoopbackServer()
        for (number, name) in Self.names.enumerated() {
            let map = LoopbackServer.Resource(
                length: 1_000_000 * (number + 2), eTag: "\"\(name)-1\"", seed: UInt64(number))
            let pace = Duration.seconds(65_536 / (megabytesPerSecond * 1e6))
            server.on(.get, "/\(name)", answer: .resource(map).dripping(65_536, every: pace, on: ContinuousClock()))
        }
    }

    var url: URL { server.url }
}
