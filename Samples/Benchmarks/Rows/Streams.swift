import Foundation
import IDMHTTP
import IDMHTTPTesting

/// Reads a body of 200 MB as a stream, compared with a bare session and its delegate. The server runs in the same
/// process, and buffers one block.
enum Streams {
    static let rows: [Benchmark] = [
        .figure(
            "200 MB read as they come", in: .time, { try await duration { try await ours(isSlow: false) } },
            against: "bare delegate session", { try await duration { try await theirs(isSlow: false) } },
            limit: .times(1.15)),
        .figure(
            "memory for 200 MB read as they come", in: .bytes,
            { try await Peak.growth { try await ours(isSlow: false) } },
            against: "bare delegate session", { try await Peak.growth { try await theirs(isSlow: false) } },
            limit: .figure(32 * 1_048_576)),
        .figure(
            "memory for 200 MB and a slow reader", in: .bytes,
            { try await Peak.growth { try await ours(isSlow: true) } },
            against: "bare delegate session", { try await Peak.growth { try await theirs(isSlow: true) } },
            limit: .figure(32 * 1_048_576)),
    ]

    private static let film = LoopbackServer.Resource(length: 200 << 20)

    private static let server = Task {
        let server = try LoopbackServer(remembers: false)
        server.on(.get, "/film", answer: .resource(film))
        return server
    }

    private static let bare = BareSession()

    private static func duration(_ work: () async throws -> Void) async throws -> Int {
        let clock = ContinuousClock()
        let start = clock.now
        try await work()
        return Int(start.duration(to: clock.now) / .nanoseconds(1))
    }

    /// Reads the whole body. A slow reader pauses after the first chunk until the server has sent the rest, or has to
    /// wait.
    private static func ours(isSlow: Bool) async throws {
        let server = try await server.value
        let gone = isSlow ? try await Departure() : nil
        let service = HTTPService(configuration: ServiceConfiguration(baseURL: gone?.url ?? server.url))
        let stream = try await service.open(ServiceRequest(.get, "/film"))
        var count = 0
        for try await piece in stream.bytes {
            if count == 0 { try await gone?.waitForBlock() }
            count += piece.count
        }
        try require(count)
    }

    private static func theirs(isSlow: Bool) async throws {
        let server = try await server.value
        let gone = isSlow ? try await Departure() : nil
        try require(try await bare.count((gone?.url ?? server.url).appendingPathComponent("film"), pausing: gone?.wait))
    }

    private static func require(_ count: Int) throws {
        guard count == film.length else { throw Fault("\(count) bytes of \(film.length) came") }
    }

    /// A separate server, for a reader that waits until the whole body was sent.
    private struct Departure: Sendable {
        let server: LoopbackServer

        init() async throws {
            server = try LoopbackServer()
            server.on(.get, "/film", answer: .resource(film))
        }

        var url: URL { server.url }

        /// Waits until the server has sent all of the body, or can't send more.
        func waitForBlock() async throws {
            try await server.waitUntil { $0.connections.contains { $0.isBlocked || $0.bytesSent > film.length } }
        }

        @Sendable func wait() async throws {
            try await server.waitUntil { $0.connections.contains { $0.bytesSent > film.length } }
        }
    }
}
