import Foundation
import IDMCore
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("Uploads", .fewAtOnce, .timeLimit(.ample))
struct UploadTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    func put(_ body: RequestBody) -> ServiceRequest { ServiceRequest(.put, "/films/1", body: body) }

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

    @Test("Paused before its body goes, an upload doesn't go, whatever it is", arguments: [true, false])
    func pausedBefore(isStream: Bool) async throws {
        let (entered, goesOn) = (Signal(), Signal())
        let transport = BodyTransport()
        let log = Log()
        let signIn = ClosureInterceptor { request, next in
            entered.open()
            await goesOn.waitIgnoringCancel()
            defer { log.add("left") }
            return try await next(request)
        }
        let control = PauseControl()
        let uploads = UploadProvider(try HTTPService(transport, interceptors: [signIn]))
        let bytes = filling(1_000)
        let body: RequestBody = isStream ? .stream(HTTPBytes(bytes)) : .bytes(bytes)
        let response = Task {
            try await control.bind { try await uploads.request(ServiceRequest(.post, "/f", body: body)) }
        }
        try await entered.wait()
        control.pause()
        goesOn.open()
        try await log.contains("left")
        #expect(transport.requests.isEmpty)
        control.resume()
        _ = try await response.value
        #expect(transport.bodies == [bytes])
    }

    @Test("A body that was ended before it went doesn't go, also if whoever has ended it comes late")
    func endedBefore() async throws {
        let body = try RequestBody.bytes(filling(1_000)).encoded()
        let request = ServiceRequest(.post, "/f", body: .bytes(filling(1_000)))
        let ended = RequestFlow(request, nil)
        #expect(ended.end())
        let isCancelled = await Task {
            _ = ended.led(body)
            return Task.isCancelled
        }.value
        #expect(isCancelled && ended.end())
        let begun = RequestFlow(request, nil)
        let goesOn = await Task {
            _ = begun.led(body)
            return !Task.isCancelled
        }.value
        #expect(goesOn && !begun.end())
        // Of a request without a body nobody tells when it goes.
        #expect(
            !RequestFlow(ServiceRequest(.post, "/f"), nil).end() && RequestFlow(ServiceRequest(.put, "/f"), nil).end())
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
        service.configuration.totalTimeout = .seconds(60)
        let provider = UploadProvider(service)
        var request = put(.file(try folder.file("film", filling(200_000))))
        let upload = Task { [request] in try await provider.request(request) }
        for _ in 0..<5 {
            try await clock.waitForSleepers(2)
            await clock.advance(by: .seconds(40))
        }
        #expect(try await upload.value.text == "done")

        request.totalTimeout = .seconds(60)
        let late = Task { [request] in try await provider.request(request) }
        // The timer of the request, and the server that takes its time.
        try await clock.waitForSleepers(2)
        await clock.advance(by: .seconds(60))
        let error = await #expect(throws: HTTPError.self) { try await late.value }
        #expect(error?.reason.description == "It was not done within 60.0 seconds.")
    }

    // MARK: Pausing

    @Test("A pause stops the bytes, and afterwards the body is sent again from its start")
    func paused() async throws {
        let bytes = filling(3_000_000)
        let request = ServiceRequest(.put, "/films", body: .file(try folder.file("film", bytes)))
        let transport = BodyTransport.held(at: 131_072, Signal())
        let control = PauseControl()
        let provider = UploadProvider(try HTTPService(transport))
        let task = Task { try await control.bind { try await provider.request(request) } }
        try await transport.received(131_072)
        control.pause()
        control.pause()
        // The first connection never goes on by itself: only the end of the request lets anything go on here.
        control.resume()
        control.resume()
        #expect(try await task.value.text == "done")
        #expect(transport.bodies.map(\.count) == [131_072, 3_000_000] && transport.bodies[1] == bytes)
    }

    @Test("With an idempotency key it may be made twice")
    func idempotencyKey() async throws {
        let bytes = filling(300_000)
        let transport = BodyTransport.held(at: 131_072, Signal())
        let control = PauseControl()
        let provider = UploadProvider(try HTTPService(transport))
        var request = ServiceRequest(.post, "/films", body: .file(try folder.file("film", bytes)))
        request.headers[.idempotencyKey] = "1"
        let task = Task { [request] in try await control.bind { try await provider.request(request) } }
        try await transport.received(131_072)
        control.pause()
        control.resume()
        #expect(try await task.value.text == "done" && transport.bodies.map(\.count) == [131_072, 300_000])
    }

    @Test("A pause of a stream that can be read once is no silence, however long")
    func longPause() async throws {
        try await TestScope.run {
            let (gate, clock) = (Signal(), ManualClock())
            let bytes = filling(300_000)
            let transport = BodyTransport.held(at: 131_072, gate)
            let control = PauseControl()
            var service = try HTTPService(transport, clock: clock)
            service.configuration.idleTimeout = .seconds(60)
            let provider = UploadProvider(service)
            let request = ServiceRequest(.post, "/films", body: .stream(HTTPBytes(bytes), length: 300_000))
            // Known to the clock, so that the silence is waited for before any time goes by.
            let task = Task(executorPreference: clock.executor) {
                try await control.bind { try await provider.request(request) }
            }
            try await transport.received(131_072)
            control.pause()
            gate.open()
            for _ in 0..<3 { await clock.advance(by: .seconds(61)) }
            control.resume()
            #expect(try await task.value.text == "done" && transport.bodies == [bytes])
        }
    }

    @Test("A deadline goes by, also while an upload is paused")
    func deadlineInAPause() async throws {
        let (gate, clock) = (Signal(), ManualClock())
        let transport = BodyTransport.held(at: 131_072, gate)
        let control = PauseControl()
        let provider = UploadProvider(try HTTPService(transport, clock: clock))
        var request = ServiceRequest(.post, "/films", body: .stream(HTTPBytes(filling(300_000)), length: 300_000))
        request.totalTimeout = .seconds(90)
        let task = Task { [request] in try await control.bind { try await provider.request(request) } }
        try await transport.received(131_072)
        control.pause()
        await clock.advance(by: .seconds(90))
        let error = await #expect(throws: HTTPError.self) { try await task.value }
        #expect(error?.limit == .total(.seconds(90)))
    }

    @Test("A silence after a pause is one, and counts from its end, also of one that was short", arguments: [59, 61])
    func silentAfterPause(seconds: Int) async throws {
        try await TestScope.run {
            let (clock, control) = (ManualClock(), PauseControl())
            let transport = BodyTransport.held(at: 131_072, Signal())
            var service = try HTTPService(transport, clock: clock)
            service.configuration.idleTimeout = .seconds(60)
            let provider = UploadProvider(service)
            let request = ServiceRequest(.post, "/films", body: .bytes(filling(300_000)))
            // Known to the clock, so that no time goes by before the next silence is waited for.
            let task = Task(executorPreference: clock.executor) {
                try await control.bind { try await provider.request(request) }
            }
            try await transport.received(131_072)
            await clock.rest()
            control.pause()
            await clock.advance(by: .seconds(seconds))
            control.resume()
            await clock.advance(by: .seconds(59))
            #expect(!clock.remaining.isEmpty)
            await clock.advance(by: .seconds(1))
            let error = await #expect(throws: HTTPError.self) { try await task.value }
            #expect(error?.limit == .idle(.seconds(60)))
        }
    }

    @Test("A stream that can be read once stops to be read, and goes on where it stopped")
    func stream() async throws {
        let bytes = filling(300_000)
        let gate = Signal()
        let transport = BodyTransport.held(at: 131_072, gate)
        let control = PauseControl()
        let provider = UploadProvider(try HTTPService(transport))
        let pieces = stride(from: 0, to: 300_000, by: 65_536).map { bytes[$0..<min($0 + 65_536, 300_000)] }
        let stream = HTTPBytes(
            AsyncStream { continuation in
                for piece in pieces { continuation.yield(Data(piece)) }
                continuation.finish()
            })
        let request = ServiceRequest(.put, "/films", body: .stream(stream, length: 300_000))
        let task = Task { try await control.bind { try await provider.request(request) } }
        try await transport.received(131_072)
        control.pause()
        gate.open()
        // Another upload is done from beginning to end meanwhile.
        _ = try await UploadProvider(try HTTPService(BodyTransport())).request(put(.bytes(bytes)))
        #expect(transport.bodies.map(\.count) == [131_072])
        control.resume()
        #expect(try await task.value.text == "done" && transport.bodies == [bytes])
    }

    @Test("A paused upload can be cancelled")
    func cancelled() async throws {
        let control = PauseControl()
        let transport = BodyTransport.held(at: 65_536, Signal())
        let provider = UploadProvider(try HTTPService(transport))
        let request = put(.file(try folder.file("film", filling(300_000))))
        let task = Task { try await control.bind { try await provider.request(request) } }
        try await transport.received(65_536)
        control.pause()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
