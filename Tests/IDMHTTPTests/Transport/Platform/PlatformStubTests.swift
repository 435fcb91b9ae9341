import Foundation
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// What URLSession does on Linux with a `URLProtocol` that answers for the network: it loses pieces of bodies, and ends
/// the process at redirects and downloads. A stub stands above it instead.
@Suite("Over a stub in place of URLSession", .fewAtOnce, .timeLimit(.ample))
struct PlatformStubTests {
    private let transport = StubTransport()

    private func service() throws -> HTTPService {
        HTTPService(configuration: try api(), transport: transport)
    }

    /// A body in so many pieces, each of which says which one it is.
    private func body(_ count: Int) -> HTTPBytes {
        HTTPBytes(
            AsyncStream { stream in
                for number in 0..<count { stream.yield(Data("\(number),".utf8)) }
                stream.finish()
            })
    }

    private func text(_ count: Int) -> String { (0..<count).map { "\($0)," }.joined() }

    @Test("a body in many pieces comes piece by piece, and whole", arguments: [0, 1, 2, 1_000])
    func pieces(count: Int) async throws {
        transport.on(.get, "/v1/a") { _ in TransportResponse(status: 200, body: body(count)) }

        let response = try await service().request(ServiceRequest(.get, "/a"))
        #expect(response.text == text(count))

        var pieces: [String] = []
        for try await piece in try await service().open(ServiceRequest(.get, "/a")).bytes {
            pieces.append(String(decoding: piece, as: UTF8.self))
        }
        #expect(pieces == (0..<count).map { "\($0)," })
    }

    @Test("redirects of a stub follow the usual rules")
    func redirects() async throws {
        let hops = [("/v1/a", "/v1/b", 302), ("/v1/b", "https://other.example.com/c", 307)]
        for (path, next, status) in hops {
            transport.on(.get, path, answer: .status(status, headers: ["Location": next]))
        }
        transport.on(.get, "/c") { _ in TransportResponse(status: 200, body: body(3)) }

        let request = ServiceRequest(.get, "/a", headers: ["Authorization": "Bearer token"])
        #expect(try await service().request(request).text == "0,1,2,")
        #expect(
            transport.requests.map(\.url.absoluteString) == [
                "https://api.example.com/v1/a", "https://api.example.com/v1/b", "https://other.example.com/c",
            ])
        #expect(transport.requests.map { $0.headers[.authorization] } == ["Bearer token", "Bearer token", nil])
    }

    @Test("a download has all pieces in its file, behind a redirect as well")
    func download() async throws {
        let folder = try TemporaryFolder()
        transport.on(.get, "/v1/old", answer: .status(301, headers: ["Location": "film"]))
        transport.on(.get, "/v1/film") { _ in TransportResponse(status: 200, body: body(10_000)) }
        let file = folder.url.appendingPathComponent("film")

        let provider = DownloadProvider(try service())
        let found = try await provider.request(ServiceDownload(ServiceRequest(.get, "/old"), to: .file(file)))

        #expect(try String(contentsOf: file, encoding: .utf8) == text(10_000))
        #expect(found.size == text(10_000).utf8.count)
        let names = try folder.names()
        #expect(names == ["film"])
    }
}
