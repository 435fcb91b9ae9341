import Foundation
import IDMCore
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("What a pause is to a transfer", .fewAtOnce, .timeLimit(.ample))
struct PausedTransferTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("A deadline holds for all attempts, and for the pauses between them", arguments: [true, false])
    func deadline(isResumed: Bool) async throws {
        try await TestScope.run {
            let (clock, control) = (ManualClock(), PauseControl())
            let transport = BodyTransport.held(at: 131_072, Signal(), of: 0...)
            let provider = UploadProvider(try HTTPService(transport, clock: clock))
            var request = ServiceRequest(.put, "/films", body: .bytes(filling(300_000)))
            request.totalTimeout = .seconds(90)
            // Known to the clock, so that no time goes by while an attempt ends or begins.
            let task = Task(executorPreference: clock.executor) { [request] in
                try await control.bind { try await provider.request(request) }
            }
            try await transport.received(131_072)
            await clock.advance(by: .seconds(40))
            control.pause()
            await clock.advance(by: .seconds(40))
            if isResumed {
                control.resume()
                try await transport.received(131_072, of: 1)
            }
            await clock.advance(by: .seconds(9))
            #expect(!clock.remaining.isEmpty)
            await clock.advance(by: .seconds(1))
            let error = await #expect(throws: HTTPError.self) { try await task.value }
            #expect(error?.limit == .total(.seconds(90)))
            #expect(transport.bodies.count == (isResumed ? 2 : 1))
        }
    }

    @Test("Another's deadline is told as that")
    func otherDeadline() async throws {
        let other = HTTPError(.timedOut(.total(.seconds(5))), request: "POST /token")
        let interceptor = ClosureInterceptor { _, _ in throw other }
        let provider = UploadProvider(try HTTPService(StubTransport { _ in .text("x") }, interceptors: [interceptor]))
        var request = ServiceRequest(.put, "/films", body: .text("x"))
        request.totalTimeout = .seconds(9_000)
        let error = await #expect(throws: HTTPError.self) { try await provider.request(request) }
        #expect(error?.request == other.request)
    }

    @Test("While a body goes again its rate is that of the bytes that go, and its time that of the rest")
    func catchingUp() async throws {
        let clock = ManualClock()
        let transport = BodyTransport(beforePiece: { _, count in
            if count > 0 { try await clock.sleep(until: clock.now.advanced(by: .seconds(1))) }
        })
        let center = TransferCenter(try HTTPService(transport, clock: clock))
        let film = ServiceRequest(.put, "/films", body: .file(try folder.file("film", filling(65_536 * 30))))
        func go(_ seconds: Int, _ body: Int) async throws {
            for second in 1...seconds {
                try await transport.received(65_536 * second, of: body)
                try await clock.waitForSleepers(2)
                await clock.advance(by: .seconds(1))
            }
            try await transport.received(65_536 * (seconds + 1), of: body)
        }
        center.upload(film, id: "film")
        try await go(15, 0)
        // What has gone is told a moment after the transport has it.
        let states = center.states(of: "film")
        _ = await states.first { $0.progress?.completed == 65_536 * 16 }
        center.pause("film")
        // Or what goes next would be kept back, by another one that sleeps.
        await clock.advance(by: .milliseconds(100))
        center.resume("film")
        try await go(4, 1)
        let progress = try #require(await states.first { $0.progress?.timeLeft == .seconds(25) }?.progress)
        #expect(progress.completed == 65_536 * 16 && progress.total == 65_536 * 30)
        #expect(progress.bytesPerSecond == 65_536)
        #expect(center.progress(of: ["film"]).timeLeft == .seconds(25))
        var group = center.progresses(of: ["film"]).makeAsyncIterator()
        #expect(await group.next()?.timeLeft == .seconds(25))
        await center.close()
    }

    @Test("An upload that a pause can't end is paused until it has come to its end by itself")
    func endsPaused() async throws {
        let (log, gate) = (Log(), Signal())
        let transport = BodyTransport(beforePiece: { _, count in
            log.add("\(count)")
            if count > 0 { try await gate.wait() }
        })
        let center = TransferCenter(try HTTPService(transport), width: 1)
        // All of it is one piece.
        let bytes = filling(65_536)
        center.upload(ServiceRequest(.post, "/films", body: .bytes(bytes)), id: "film")
        try await log.count(reaches: 2)
        center.pause("film")
        center.upload(ServiceRequest(.post, "/films", body: .text("other")), id: "other")
        guard case .paused? = center.state(of: "film"), case .running? = center.state(of: "other") else {
            Issue.record("It isn't paused.")
            return
        }
        gate.open()
        _ = try await center.result(of: "film")
        _ = try await center.result(of: "other")
        #expect(transport.bodies.contains(bytes) && transport.requests.count == 2)
        await center.close()
    }

    @Test("A pause ends work that begins as it comes")
    func pausedAsItBegins() async throws {
        let (log, control) = (Log(), PauseControl())
        let deadline = RequestDeadline(ServiceRequest(.get, "/a"), try HTTPService(StubTransport { _ in .text("x") }))
        let task = Task {
            try await control.bind {
                try await Interruption(deadline: deadline).run {
                    let isFirst = log.entries.isEmpty
                    log.add("begun")
                    // By now it has been looked whether it is paused.
                    if isFirst { control.pause() }
                    return .init {
                        guard isFirst else { return 1 }
                        do { try await Signal().wait() } catch {
                            log.add("ended")
                            throw error
                        }
                        return 2
                    }
                }
            }
        }
        try await log.contains("ended")
        control.resume()
        #expect(try await task.value == 1 && log.entries == ["begun", "ended", "begun"])
    }
}
