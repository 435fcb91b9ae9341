import Foundation
import IDMCore
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// Uploads that may not be made twice, and that a pause therefore doesn't end.
extension UploadTests {
    /// Reads a body that goes by a method, and pauses behind its first piece. All of it is in memory: what is read at
    /// all without a resume has been read when the initializer returns.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor
    private final class Reading {
        let control = PauseControl()
        private(set) var pieces: [Data] = []
        private(set) var task: Task<Void, any Error>?
        private(set) var hasEnded = false

        init(_ body: RequestBody, by method: ServiceRequest.Method) throws {
            let flow = RequestFlow(ServiceRequest(method, "/films", body: body), control)
            let bytes = try flow.led(body.encoded()).bytes()
            task = Task.immediate {
                for try await piece in bytes {
                    if pieces.isEmpty { control.pause() }
                    pieces.append(piece)
                }
                hasEnded = true
            }
        }
    }

    @Test("What may not be made twice stands still where it is while it is paused, and goes on there")
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor
    func standsStill() async throws {
        let parts = MultipartBody([.text("title", "Film"), .text("year", "1927")])
        var whole: [Data] = []
        for try await piece in try RequestBody.multipart(parts).encoded().bytes() { whole.append(piece) }

        let reading = try Reading(.multipart(parts), by: .post)
        #expect(reading.pieces == Array(whole.prefix(1)) && !reading.hasEnded)
        reading.control.resume()
        try await reading.task?.value

        #expect(reading.pieces == whole && whole.count > 1)
    }

    @Test("What is in memory goes piece by piece as well, and stands still between two", arguments: [true, false])
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor
    func inMemory(isPart: Bool) async throws {
        // A slice, as callers have them: its indices don't begin at 0.
        let bytes = filling(200_100).dropFirst(100)
        let parts = MultipartBody([.data("film", bytes, fileName: "film", contentType: "video/mp4")])
        let reading = try Reading(isPart ? .multipart(parts) : .bytes(bytes), by: .post)
        // The first piece of parts is the header of one.
        #expect(reading.pieces.count == 1 && reading.pieces[0].count <= 65_536 && !reading.hasEnded)
        reading.control.resume()
        try await reading.task?.value

        let pieces = reading.pieces.dropFirst(isPart ? 1 : 0).prefix(4)
        #expect(pieces.map(\.count) == [65_536, 65_536, 65_536, 3_392] && Data(pieces.joined()) == bytes)
        #expect(pieces.allSatisfy { $0.startIndex == 0 })
    }

    @Test("A cancel ends at once what stands still")
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor
    func cancelledInPlace() async throws {
        let reading = try Reading(.multipart(MultipartBody([.text("title", "Film")])), by: .post)
        reading.task?.cancel()
        await #expect(throws: CancellationError.self) { @MainActor in try await reading.task?.value }
        #expect(reading.pieces.count == 1 && reading.control.isPaused)
    }

    @Test("Behind its last byte nothing stands still, nor does what a pause ends")
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor
    func nothingToHold() throws {
        let parts = MultipartBody([.text("title", "Film"), .text("year", "1927")])
        for reading in [try Reading(.text("film"), by: .post), try Reading(.multipart(parts), by: .put)] {
            #expect(reading.hasEnded && reading.control.isPaused)
        }
    }

    @Test("A transport that takes a body as a whole finds it as it is, and sends it to its end")
    func asAWhole() throws {
        let file = try folder.file("film", filling(1_000))
        for body in [RequestBody.text("film"), .file(file)] {
            let flow = RequestFlow(ServiceRequest(.post, "/films", body: body), PauseControl())
            let encoded = try body.encoded()
            let led = flow.led(encoded)
            #expect(led.data == encoded.data && led.file == encoded.file)
            #expect((led.data == nil) != (led.file == nil))
        }
    }

    @Test("Over libcurl, a paused upload from memory or a file sends nothing", arguments: [true, false])
    func overCurl(isFile: Bool) async throws {
        try await withServer { server, service in
            guard TestTransport.current == .curl else { return }
            let bytes = filling(30_000_000)
            let (gate, control) = (TestGate(), PauseControl())
            server.on(.post, "/films", answer: .text("done").reading(1 << 20, through: gate))
            let body = isFile ? RequestBody.file(try folder.file("film", bytes)) : .bytes(bytes)
            let provider = UploadProvider(service)
            let task = Task {
                try await control.bind { try await provider.request(ServiceRequest(.post, "/films", body: body)) }
            }
            try await gate.waitForTasks(1)
            control.pause()
            gate.open()
            try await server.waitUntil { $0.connections.first.map { $0.bytesReceived > 0 } == true }
            #expect(server.journal.requestCount == 0)
            control.resume()
            #expect(try await task.value.text == "done")
            #expect(server.requests.map(\.fingerprint) == [LoopbackServer.Fingerprint(of: bytes)])
        }
    }

    @Test("Over URLSession what is in memory or a file goes to its end, though it is paused", arguments: [true, false])
    func overURLSession(isFile: Bool) async throws {
        try await withServer { server, service in
            let bytes = filling(3_000_000)
            let (gate, control) = (TestGate(), PauseControl())
            server.on(.post, "/films", answer: .text("done").reading(1 << 20, through: gate))
            let body = isFile ? RequestBody.file(try folder.file("film", bytes)) : .bytes(bytes)
            var service = service
            service.transport = URLSessionTransport.shared
            let provider = UploadProvider(service)
            let task = Task {
                try await control.bind { try await provider.request(ServiceRequest(.post, "/films", body: body)) }
            }
            try await gate.waitForTasks(1)
            control.pause()
            gate.open()
            #expect(try await task.value.text == "done" && control.isPaused)
            #expect(server.requests.map(\.fingerprint) == [LoopbackServer.Fingerprint(of: bytes)])
        }
    }

    @Test("An upload in a center is paused where it is, and resumed it is done by the request that it began with")
    func inACenter() async throws {
        let bytes = filling(300_000)
        let gate = Signal()
        let transport = BodyTransport.held(at: 131_072, gate)
        // A clock that stands still: nobody else tells anything, so that the pause is there when the function returns.
        let center = TransferCenter(try HTTPService(transport, clock: ManualClock()), width: 1)
        center.upload(ServiceRequest(.post, "/films", body: .file(try folder.file("film", bytes))), id: "film")
        try await transport.received(131_072)
        center.pause("film")
        // It runs in the place of the one that stands still.
        center.upload(ServiceRequest(.post, "/films", body: .text("other")), id: "other")
        gate.open()
        _ = try await center.result(of: "other")
        guard case .paused(let progress)? = center.state(of: "film") else { throw Violation("It isn't paused.") }
        #expect(progress.completed <= 131_072 && transport.bodies[0].count == 131_072)
        center.resume("film")
        _ = try await center.result(of: "film")
        #expect(transport.bodies == [bytes, Data("other".utf8)])
        await center.close()
    }
}
