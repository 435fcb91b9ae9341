import Foundation
import IDMCore
import IDMFiles
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// Transfers over real connections, by way of URLSession.
@Suite("Transfers, with a real server", .fewAtOnce, .overEachTransport, .timeLimit(.ample))
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

    @Test("A request that may not be made twice arrives once, however it is paused", arguments: [false, true])
    func pausedOnItsWay(isFile: Bool) async throws {
        let bytes = filling(3_000_000)
        let body: RequestBody = isFile ? .file(try folder.file("sent", bytes)) : .bytes(bytes)
        try await LoopbackServer.run { server in
            server.on(.post, "/f", answer: .status(200))
            let rounds = Volume.of(200, normally: 10)
            for _ in 0..<rounds {
                let control = PauseControl()
                let uploads = Integrator(UploadProvider(server.service()))
                let upload = control.bind {
                    uploads.prepareCall(ServiceRequest(.post, "/f", body: body))
                        .onProgress { _ in
                            control.pause()
                            control.resume()
                        }
                        .call()
                }
                let response = try await upload.value
                #expect(response.status == 200)
            }
            #expect(server.requests.count { $0.isComplete && $0.bodyLength == 3_000_000 } == rounds)
            #expect(server.requests.count == rounds)
        }
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

    @Test("A download that unpacks beyond its limit fails and leaves nothing", arguments: [true, false])
    func bomb(isServiceLimit: Bool) async throws {
        try await LoopbackServer.run { server in
            server.on(.get, "/film", answer: .gzipBomb(unpacking: 1 << 30))
            var (service, download) = (server.service(), download)
            if isServiceLimit { service.configuration.limits.openedBody = 1 << 20 } else { download.size = 1 << 20 }
            let error = await #expect(throws: (any Error).self) {
                try await DownloadProvider(service).request(download)
            }
            #expect((error as? HTTPError)?.reason.words == (isServiceLimit ? "too large \(1 << 20)" : nil))
            #expect((error is TransferError) != isServiceLimit && names.isEmpty)
        }
    }

    @Test("A transfer of 0 bytes ends at the fraction 1")
    func nothing() async throws {
        let source = try folder.file("source", Data())
        try await LoopbackServer.run { server in
            server.on(.get, "/film", answer: .bytes(Data()))
            server.on(.put, "/film", answer: .bytes(Data()))
            let (service, upload) = (server.service(), ServiceRequest(.put, "/film", body: .file(source)))

            let fractions = [
                try await lastFraction(of: DownloadProvider(service), download),
                try await lastFraction(of: UploadProvider(service), upload),
                try await lastFraction(of: service, download.request),
                try await lastFraction(of: service, upload),
            ]

            #expect(fractions == [1, 1, 1, 1])
        }
    }

    private func lastFraction<Provider: DataProvider>(
        of provider: Provider, _ input: Provider.Input
    ) async throws -> Double? {
        let last = Observed<Double?>(nil)
        let call = Integrator(provider).prepareCall(input)
            .onProgress { progress in last.change { $0 = progress.fraction } }
        _ = try await call.call().value
        return last.value
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
            let (gate, control, hasCome) = (TestGate(), PauseControl(), Signal())
            server.on(
                .get, "/film",
                answers: [
                    .resource(film).waiting(for: gate, at: .body(1_500_000)), .resource(film),
                ])
            let downloads = Integrator(DownloadProvider(server.service()))
            let call = control.bind {
                downloads.prepareCall(download).onProgress { if $0.completed ?? 0 > 0 { hasCome.open() } }.call()
            }
            try await hasCome.wait()
            control.pause()
            try await server.waitUntil { $0.connections.allSatisfy(\.isClosed) }
            control.resume()
            _ = try await call.value
            #expect(try isWhole(film))
            let ranges = server.requests.map { $0.headers["Range"] ?? "" }
            #expect(ranges.count == 2 && ranges.first == "" && ranges.last?.hasPrefix("bytes=") == true)
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

    @Test(
        "A source that becomes longer or shorter while it is sent fails the upload",
        arguments: [("longer", 1), ("shorter", -20_000_000)])
    func changing(word: String, difference: Int) async throws {
        // Far more than what the network holds between the two.
        let length = 60_000_000
        let source = try folder.file("source", Data(count: 0))
        try Self.resize(source, to: length)
        try await LoopbackServer.run { server in
            let gate = TestGate()
            server.on(.put, "/film", answer: .text("done").reading(65_536, through: gate))
            let upload = Task {
                try await UploadProvider(server.service()).request(ServiceRequest(.put, "/film", body: .file(source)))
            }
            try await gate.waitForTasks(1)
            try Self.resize(source, to: length + difference)
            gate.open()
            let error = await #expect(throws: HTTPError.self) { try await upload.value }
            try expect(error, names: "source", because: word)
            // As many bytes as were announced may arrive of one that is longer, and never of one that is shorter.
            // URLSession on Linux sends the bytes that it had before.
            let most = difference > 0 || TestTransport.current.sendsFromMemory ? length : length - 1
            #expect(server.requests.allSatisfy { $0.bodyLength <= most })
        }
    }

    @Test("A source that has gone, or is another length, when it is to be sent again fails the upload")
    func changedBeforeReplay() async throws {
        let source = try folder.file("source", filling(100_000))
        let ways: [(String, @Sendable () throws -> Void)] = [
            ("longer", { try Self.resize(source, to: 100_001) }), ("shorter", { try Self.resize(source, to: 99_999) }),
            ("no such file", { try FileManager.default.removeItem(at: source) }),
        ]
        for (word, way) in ways {
            try Self.resize(source, to: 100_000)
            try await LoopbackServer.run { server in
                server.on(.put, "/film") { _ in
                    try way()
                    return .redirect(to: "/other", status: 307)
                }
                server.on(.put, "/other", answer: .text("done"))
                let request = ServiceRequest(.put, "/film", body: .file(source))
                let error = await #expect(throws: HTTPError.self) {
                    try await UploadProvider(server.service()).request(request)
                }
                try expect(error, names: "source", because: word)
                #expect(server.requests.first?.bodyLength == 100_000)
                let most = word == "longer" ? 100_000 : 99_999
                #expect(server.requests.dropFirst().allSatisfy { $0.bodyLength <= most })
            }
        }
    }

    @Test("Who has signed in downloads five films at once, and a call hears of all of them")
    func five() async throws {
        let films = (1...5).map { LoopbackServer.Resource(length: $0 * 100_000, seed: UInt64($0)) }
        try await LoopbackServer.run { server in
            let gate = TestGate()
            server.on(.post, "/sign-in", answer: .json(#"["1", "2", "3", "4", "5"]"#))
            for (index, film) in films.enumerated() {
                server.on(.get, "/films/\(index + 1)", answer: .resource(film).waiting(for: gate, at: .body(50_000)))
            }
            let service = server.service()
            let log = Log()
            let call = Integrator(signIn(service) >>>> DownloadProvider(service).each(limit: 5))
                .prepareCall(ServiceRequest(.post, "/sign-in"))
                .onProgress { log.add("\($0.fraction)") }
            let task = call.call()
            try await gate.waitForTasks(5)
            // The last waits until something in between was heard: who comes late hears the latest only.
            let isInBetween = { @Sendable (line: String) in Double(line).map { $0 > 0.5 && $0 < 1 } ?? false }
            gate.open(for: 4)
            try await log.contains { $0.contains(where: isInBetween) }
            gate.open()
            let files = try await task.value
            for (index, film) in films.enumerated() {
                let bytes = try Data(contentsOf: folder.url.appendingPathComponent("\(index + 1).bin"))
                #expect(bytes == film.bytes(0..<film.length) && files[index].size == film.length)
            }
            #expect(files.count == 5 && names.count == 5)
            let fractions = log.entries.compactMap { Double($0) }
            #expect(fractions == fractions.sorted() && fractions.last == 1)
        }
    }

    /// Answers with a download for each film that the server names.
    private func signIn(_ service: HTTPService) -> some DataProvider<ServiceRequest, [ServiceDownload]> {
        let folder = folder.url
        return service >>>> { (response: ServiceResponse) in
            try JSONDecoder().decode([String].self, from: response.body).map { name in
                let request = ServiceRequest(.get, "/films/{name}", pathParameters: ["name": name])
                return ServiceDownload(request, to: .file(folder.appendingPathComponent("\(name).bin")))
            }
        }
    }

    private static func resize(_ file: URL, to length: Int) throws {
        if !FileManager.default.fileExists(atPath: file.path) { try Data().write(to: file) }
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: UInt64(length))
        try handle.close()
    }

    private func expect(_ error: HTTPError?, names file: String, because word: String) throws {
        guard case .badRequest(.body(.file(file, let reason)))? = error?.reason, reason.contains(word) else {
            throw Violation("\(word): \(String(describing: error))")
        }
    }

    /// On Linux, a piece of a file that URLSession had asked the disk for ended the process when the task had ended.
    @Test("Uploads of a file that are cancelled at any moment end as cancelled, and no connection stays open")
    func cancelled() async throws {
        let source = try folder.file("source", filling(2_000_000))
        var random = SplitMix(seed: 11)
        try await LoopbackServer.run { server in
            let never = TestGate()
            server.on(.put, "/film", answer: .text("done").waiting(for: never))
            let uploads = Integrator(UploadProvider(server.service()))
            for index in 0..<Volume.of(2_000, normally: 50) {
                let count = Int.random(in: 1...1_900_000, using: &random)
                let task = uploads.prepareCall(ServiceRequest(.put, "/film", body: .file(source))).call()
                try await server.waitUntil {
                    $0.connections.count > index && $0.connections[index].bytesReceived >= count
                }
                task.cancel()
                let error = await #expect(throws: IntegrationError.self) { try await task.value }
                guard case .cancelled? = error else { throw Violation("\(String(describing: error))") }
            }
            try await server.waitUntil { $0.openConnectionCount == 0 }
        }
    }

    @Test("A file that is posted goes with its length and its type, and nothing says that it comes in chunks")
    func types() async throws {
        let source = try folder.file("source", filling(1_000))
        try await LoopbackServer.run { server in
            server.on(.post, "/film", answer: .text("done"))
            let provider = UploadProvider(server.service())
            for type in [nil, "video/mp4"] {
                var request = ServiceRequest(.post, "/film", body: .file(source))
                request.headers["Content-Type"] = type
                _ = try await provider.request(request)
            }
            #expect(server.requests.map(\.bodyLength) == [1_000, 1_000])
            for request in server.requests {
                #expect(request.headers["Content-Length"] == "1000" && request.headers["Transfer-Encoding"] == nil)
            }
            #expect(server.requests.map { $0.headers["Content-Type"] } == ["application/octet-stream", "video/mp4"])
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
            let arrived = try await server.waitForRequest()
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
