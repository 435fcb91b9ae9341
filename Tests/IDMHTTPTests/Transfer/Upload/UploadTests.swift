import Foundation
import IDMCore
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("Uploads", .timeLimit(.minutes(2)))
struct UploadTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func put(_ body: RequestBody) -> ServiceRequest { ServiceRequest(.put, "/films/1", body: body) }

    @Test("Bytes, files, streams and parts arrive as they are")
    func kinds() async throws {
        let bytes = filling(200_000)
        let file = try folder.file("film", bytes)
        let pieces = AsyncStream { continuation in
            continuation.yield(bytes.prefix(100_000))
            continuation.yield(bytes.dropFirst(100_000))
            continuation.finish()
        }
        for control in [nil, PauseControl()] {
            let transport = BodyTransport()
            let provider = UploadProvider(try HTTPService(transport))
            var bodies: [RequestBody] = [.bytes(bytes), .file(file)]
            if control == nil { bodies.append(.stream(HTTPBytes(pieces), length: 200_000)) }
            for body in bodies {
                let request = put(body)
                let response: ServiceResponse
                if let control {
                    response = try await control.bind { try await provider.request(request) }
                } else {
                    response = try await provider.request(request)
                }
                #expect(response.text == "done" && transport.bodies.last == bytes)
            }
            let parts = MultipartBody([.text("title", "Film"), .file("film", file)])
            _ = try await provider.request(put(.multipart(parts)))
            let sent = try #require(transport.bodies.last)
            #expect(sent.range(of: bytes) != nil && sent.range(of: Data("name=\"title\"".utf8)) != nil)
            #expect(transport.requests.last?.headers[.contentType]?.contains(parts.boundary) == true)
        }
    }

    @Test("A call hears of the bytes that have gone, not of those of the answer, and of the last before the value")
    func progress() async throws {
        let transport = BodyTransport { _ in
            .text(String(repeating: "x", count: 9_000), headers: ["Content-Length": "9000"])
        }
        let file = try folder.file("film", filling(300_000))
        let log = Log()
        let call = Integrator(UploadProvider(try HTTPService(transport))).prepareCall(put(.file(file)))
            .onProgress { log.add("\($0.completed ?? -1)/\($0.total ?? -1)") }
        _ = try await call.call().value
        #expect(log.entries.last == "300000/300000")
        #expect(log.entries.allSatisfy { $0.hasSuffix("/300000") || $0 == "-1/-1" })
        let counts = log.entries.compactMap { Int($0.prefix { $0 != "/" }) }.filter { $0 >= 0 }
        #expect(counts == counts.sorted())
    }

    @Test("A source that has become longer, shorter or has gone fails the upload, which doesn't arrive whole")
    func sources() async throws {
        let bytes = filling(200_000)
        let ways: [(String, @Sendable (URL) throws -> Void)] = [
            ("longer", { try (bytes + Data([1])).write(to: $0) }), ("shorter", { try bytes.dropLast().write(to: $0) }),
            ("no such file", { try FileManager.default.removeItem(at: $0) }),
            ("longer", { try Self.append(to: $0) }), ("shorter", { try Self.truncate($0) }),
        ]
        for (index, (word, way)) in ways.enumerated() {
            let file = try folder.file("film", bytes)
            // The first three before it is opened, the others half-way.
            let moment = index < 3 ? 0 : 65_536
            let transport = BodyTransport(beforePiece: { _, count in if count == moment { try way(file) } })
            let error = await #expect(throws: HTTPError.self) {
                try await UploadProvider(try HTTPService(transport)).request(put(.file(file)))
            }
            guard case .badRequest(.body(.file("film", let reason)))? = error?.reason else {
                Issue.record("\(word): \(String(describing: error))")
                continue
            }
            #expect(reason.contains(word))
            #expect(transport.bodies[0].count < 200_000, "\(word)")
        }
    }

    private static func append(to file: URL) throws {
        let handle = try FileHandle(forWritingTo: file)
        try handle.seekToEnd()
        try handle.write(contentsOf: Data([1]))
        try handle.close()
    }

    private static func truncate(_ file: URL) throws {
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 100_000)
        try handle.close()
    }

    @Test(
        "A body that can be read again is sent again after a redirect, and one that can't fails the upload and says so")
    func redirects() async throws {
        let file = try folder.file("film", filling(100_000))
        let redirect: @Sendable (Int) -> TransportResponse = { number in
            number == 0 ? .text("", status: 307, headers: ["Location": "/other"]) : .text("done")
        }
        let transport = BodyTransport(redirect)
        _ = try await UploadProvider(try HTTPService(transport)).request(put(.file(file)))
        #expect(transport.bodies.map(\.count) == [100_000, 100_000] && transport.bodies[0] == transport.bodies[1])
        let once = BodyTransport(redirect)
        let error = await #expect(throws: HTTPError.self) {
            try await UploadProvider(try HTTPService(once)).request(put(.stream(HTTPBytes(Data(count: 9)), length: 9)))
        }
        guard case .redirect(.bodyIsUsedUp)? = error?.reason else { throw Violation("\(String(describing: error))") }
    }

    @Test("The service's deadline doesn't end an upload, but its own does")
    func deadline() async throws {
        let clock = ManualClock()
        let transport = BodyTransport(beforePiece: { _, _ in
            try await clock.sleep(until: clock.now.advanced(by: .seconds(40)))
        })
        var service = try HTTPService(transport, clock: clock)
        service.configuration.deadline = .seconds(60)
        let provider = UploadProvider(service)
        let request = put(.file(try folder.file("film", filling(200_000))))
        let upload = Task { try await provider.request(request) }
        for _ in 0..<5 {
            try await clock.sleepers(2)
            await clock.advance(by: .seconds(40))
        }
        #expect(try await upload.value.text == "done")
    }

    // MARK: Pausing

    @Test("After a short pause the bytes go on where they stopped")
    func shortPause() async throws {
        let bytes = filling(300_000)
        let control = PauseControl()
        let gate = Signal()
        let transport = BodyTransport(beforePiece: { _, count in if count == 131_072 { try await gate.wait() } })
        let provider = UploadProvider(try HTTPService(transport))
        async let response = control.bind { try await provider.request(put(.bytes(bytes))) }
        try await transport.received(131_072)
        control.pause()
        control.pause()
        gate.open()
        control.resume()
        control.resume()
        #expect(try await response.text == "done" && transport.bodies == [bytes])
    }

    @Test("In a pause nothing goes, so that a long one ends the connection, and the body is sent again from its start")
    func longPause() async throws {
        let bytes = filling(300_000)
        let clock = ManualClock()
        let control = PauseControl()
        let gate = Signal()
        let transport = BodyTransport(beforePiece: { number, count in
            if number == 0, count == 131_072 { try await gate.wait() }
        })
        let provider = UploadProvider(try HTTPService(transport, clock: clock))
        let task = Task { try await control.bind { try await provider.request(put(.bytes(bytes))) } }
        try await transport.received(131_072)
        control.pause()
        gate.open()
        try await clock.sleepers(1)
        // Twice, since something may have gone just before.
        await clock.advance(by: .seconds(60))
        await clock.advance(by: .seconds(60))
        try await clock.noSleepers()
        #expect(transport.bodies.map(\.count) == [131_072])
        control.resume()
        #expect(try await task.value.text == "done" && transport.bodies.last == bytes)
        #expect(transport.bodies.map(\.count) == [131_072, 300_000])
    }

    @Test("A server that hangs up during a pause gets the body again, from its start", arguments: [true, false])
    func hungUp(isReplayable: Bool) async throws {
        let bytes = filling(300_000)
        let control = PauseControl()
        let hangsUp = Signal()
        let transport = BodyTransport(beforePiece: { number, count in
            guard number == 0, count == 131_072 else { return }
            try await hangsUp.wait()
            throw BodyTransport.Broken()
        })
        let provider = UploadProvider(try HTTPService(transport))
        let body: RequestBody = isReplayable ? .bytes(bytes) : .stream(HTTPBytes(bytes), length: 300_000)
        let request = ServiceRequest(.post, "/films", body: body)
        let task = Task { try await control.bind { try await provider.request(request) } }
        try await transport.received(131_072)
        control.pause()
        hangsUp.open()
        if isReplayable {
            control.resume()
            #expect(try await task.value.text == "done" && transport.bodies.map(\.count) == [131_072, 300_000])
        } else {
            await #expect(throws: HTTPError.self) { try await task.value }
        }
    }

    @Test(
        "What has arrived as a whole isn't sent again unless that does no harm",
        arguments: [ServiceRequest.Method.post, .put])
    func arrived(method: ServiceRequest.Method) async throws {
        let control = PauseControl()
        let arrived = Signal()
        let hangsUp = Signal()
        struct Hanging: HTTPTransport {
            let transport: BodyTransport
            let arrived: Signal
            let hangsUp: Signal
            func send(_ request: TransportRequest) async throws -> TransportResponse {
                let response = try await transport.send(request)
                guard transport.bodies.count == 1 else { return response }
                arrived.open()
                try await hangsUp.wait()
                throw BodyTransport.Broken()
            }
        }
        let transport = BodyTransport()
        let provider = UploadProvider(
            try HTTPService(Hanging(transport: transport, arrived: arrived, hangsUp: hangsUp)))
        let request = ServiceRequest(method, "/films", body: .bytes(filling(100_000)))
        let task = Task { try await control.bind { try await provider.request(request) } }
        try await arrived.wait()
        control.pause()
        hangsUp.open()
        control.resume()
        if method == .put {
            #expect(try await task.value.text == "done" && transport.bodies.map(\.count) == [100_000, 100_000])
        } else {
            await #expect(throws: HTTPError.self) { try await task.value }
        }
    }

    @Test("A paused upload can be cancelled")
    func cancelled() async throws {
        let control = PauseControl()
        let gate = Signal()
        let transport = BodyTransport(beforePiece: { _, count in if count > 0 { try await gate.wait() } })
        let provider = UploadProvider(try HTTPService(transport))
        let request = put(.bytes(filling(300_000)))
        let task = Task { try await control.bind { try await provider.request(request) } }
        try await transport.received(65_536)
        control.pause()
        gate.open()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
