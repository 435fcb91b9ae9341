import Foundation
import IDMCore
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// Transfers over real connections, by way of URLSession.
@Suite("Transfers, with a real server", .timeLimit(.ample))
struct TransferLoopbackTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private var file: URL { folder.url.appendingPathComponent("film.bin") }
    private var names: [String] { (try? folder.names()) ?? [] }

    private var download: ServiceDownload { ServiceDownload(ServiceRequest(.get, "/film"), to: .file(file)) }

    private func isWhole(_ film: LoopbackServer.Resource) throws -> Bool {
        try names == ["film.bin"] && Data(contentsOf: file) == film.bytes(0..<film.length)
    }

    @Test("A film comes whole, whether its length is known or not", arguments: [0, 1, 300_000, 3_000_000])
    func whole(length: Int) async throws {
        let film = LoopbackServer.Resource(length: length, eTag: "\"v1\"")
        try await LoopbackServer.run { server in
            server.on(
                .get, "/film", answers: [.resource(film), .resource(film).chunked(), .resource(film).untilClose()])
            for _ in 0..<3 {
                let found = try await DownloadProvider(server.service()).request(download)
                #expect(found.size == length)
                #expect(try isWhole(film))
                try FileManager.default.removeItem(at: file)
            }
            #expect(server.requests.allSatisfy { $0.headers["Accept-Encoding"] == "identity" })
        }
    }

    @Test(
        "What breaks off in the middle goes on there, and the digest is right",
        arguments: [
            LoopbackServer.Resource.Ranges.honored, .ignored, .shifted(by: 5), .mislabelled(by: 5), .shifted(by: -5),
        ])
    func broken(ranges: LoopbackServer.Resource.Ranges) async throws {
        var film = LoopbackServer.Resource(length: 600_000, eTag: "\"v1\"")
        film.ranges = ranges
        var download = download
        download.sha256 = SHA256.hex(of: film.bytes(0..<film.length))
        try await LoopbackServer.run { [film, download] server async throws in
            let broken = LoopbackServer.Answer.resource(film).cut(at: .body(270_000))
            server.on(.get, "/film", answers: [broken, broken, .resource(film)])
            let provider = DownloadProvider(server.service())
            // A part that is refused leads to the whole at once, and one that is taken breaks off once more.
            while !names.contains("film.bin") { _ = try? await provider.request(download) }
            #expect(try isWhole(film))
            #expect(server.requests.count == 3)
            let asked = server.requests.map { $0.headers["Range"] }
            #expect(asked[0] == nil && asked[1] == "bytes=270000-")
        }
    }

    @Test("An object that has changed, to a shorter one too, or has a weak tag, comes anew as a whole")
    func changed() async throws {
        for (first, second) in [("\"v1\"", "\"v2\""), ("W/\"v1\"", "W/\"v1\"")] {
            let old = LoopbackServer.Resource(length: 2_000_000, eTag: first, seed: 1)
            let new = LoopbackServer.Resource(length: 500_000, eTag: second, seed: 2)
            try await LoopbackServer.run { server in
                server.on(.get, "/film", answers: [.resource(old).cut(at: .body(900_000)), .resource(new)])
                let provider = DownloadProvider(server.service())
                await #expect(throws: (any Error).self) { try await provider.request(download) }
                _ = try await provider.request(download)
                #expect(try isWhole(new))
                try FileManager.default.removeItem(at: file)
            }
        }
    }

    @Test("What is packed arrives unpacked, as a whole")
    func packed() async throws {
        let bytes = filling(300_000)
        try await LoopbackServer.run { server in
            server.on(.get, "/film", answer: .bytes(bytes).gzipped().header("ETag", "\"v1\""))
            _ = try await DownloadProvider(server.service()).request(download)
            #expect(try Data(contentsOf: file) == bytes)
            #expect(names == ["film.bin"])
        }
    }

    @Test("Of a failure nothing is kept, and the error has what the server said")
    func failure() async throws {
        try await LoopbackServer.run { server in
            server.on(.get, "/film", answer: .text("no such film", status: 404))
            let error = await #expect(throws: HTTPError.self) {
                try await DownloadProvider(server.service()).request(download)
            }
            #expect(error?.status == 404 && error?.response?.text == "no such film" && names.isEmpty)
        }
    }

    @Test("A pause closes the connection, and resuming goes on where it stopped")
    func paused() async throws {
        let film = LoopbackServer.Resource(length: 3_000_000, eTag: "\"v1\"")
        try await LoopbackServer.run { server in
            let gate = TestGate()
            server.on(
                .get, "/film",
                answers: [
                    .resource(film).waiting(for: gate, at: .body(1_500_000)), .resource(film),
                ])
            let control = PauseControl()
            let provider = DownloadProvider(server.service())
            let task = Task { try await control.bind { try await provider.request(download) } }
            try await server.until { $0.connections.first?.bytesSent ?? 0 > 1_500_000 }
            control.pause()
            try await server.until { $0.connections.allSatisfy(\.isClosed) }
            control.resume()
            _ = try await task.value
            #expect(try isWhole(film))
            gate.open()
        }
    }

    @Test("A film is sent as it is, again after a redirect, and a call hears of every byte")
    func upload() async throws {
        let bytes = filling(3_000_000)
        let source = try folder.file("source", bytes)
        try await LoopbackServer.run { server in
            server.on(.put, "/film", answer: .redirect(to: "/other", status: 307))
            server.on(.put, "/other", answer: .text("done"))
            let log = Log()
            let request = ServiceRequest(.put, "/film", body: .file(source))
            let call = Integrator(UploadProvider(server.service())).prepareCall(request)
                .onProgress { log.add("\($0.completed ?? -1)/\($0.total ?? -1)") }
            #expect(try await call.call().value.text == "done")
            let arrived = try #require(server.requests.last)
            #expect(arrived.path == "/other" && arrived.fingerprint == LoopbackServer.Fingerprint(of: bytes))
            #expect(log.entries.last == "3000000/3000000")
        }
    }

    @Test("Parts with a file arrive as they are, and their length is announced")
    func multipart() async throws {
        let bytes = filling(1_000_000)
        let source = try folder.file("source", bytes)
        try await LoopbackServer.run { server in
            server.on(.post, "/film", answer: .text("done"))
            let body = MultipartBody([.text("title", "Film"), .file("film", source)])
            _ = try await UploadProvider(server.service()).request(
                ServiceRequest(.post, "/film", body: .multipart(body)))
            let arrived = try await server.nextRequest()
            #expect(arrived.body.range(of: bytes) != nil)
            #expect(arrived.headers["Content-Length"] == "\(arrived.bodyLength)")
        }
    }

    @Test("A 401 is answered with a credential, and the body sent again")
    func authentication() async throws {
        let bytes = filling(1_000_000)
        let source = try folder.file("source", bytes)
        try await LoopbackServer.run { server in
            server.on(.put, "/film") { request in
                request.headers[.authorization] == "Bearer good"
                    ? .text("done") : .status(401).header("WWW-Authenticate", "Bearer")
            }
            let signing = ClosureInterceptor { request, next in
                do {
                    return try await next(request)
                } catch let error as HTTPError where error.status == 401 {
                    var request = request
                    request.headers.setSecret(.authorization, "Bearer good")
                    return try await next(request)
                }
            }
            let service = server.service(interceptors: [signing])
            let replayable = ServiceRequest(.put, "/film", body: .file(source))
            #expect(try await UploadProvider(service).request(replayable).text == "done")
            #expect(server.requests.last?.fingerprint == LoopbackServer.Fingerprint(of: bytes))
            let once = ServiceRequest(.put, "/film", body: .stream(HTTPBytes(bytes), length: bytes.count))
            let error = await #expect(throws: HTTPError.self) { try await UploadProvider(service).request(once) }
            guard case .badRequest(.body(.usedUp))? = error?.reason else {
                throw Violation("\(String(describing: error))")
            }
        }
    }
}
