import Foundation
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A service that has to wait", .fewAtOnce, .timeLimit(.ample))
struct HTTPServiceTimeTests {
    private func service(_ transport: any HTTPTransport, on clock: ManualClock) throws -> HTTPService {
        var service = try HTTPService(transport, clock: clock)
        service.configuration.idleTimeout = .milliseconds(500)
        return service
    }

    private func expectSilence(_ error: HTTPError?) {
        #expect(error?.limit == .idle(.milliseconds(500)))
    }

    @Test("fails after the time-out if nothing comes, and cancels the transport")
    func silence() async throws {
        let clock = ManualClock()
        let (asked, cancelled) = (Signal(), Signal())
        let service = try service(
            ScriptedTransport { _ in
                asked.open()
                try await withTaskCancellationHandler {
                    try await Signal().wait()
                } onCancel: {
                    cancelled.open()
                }
                return .text("")
            }, on: clock)

        async let error = service.error()
        try await asked.wait()
        try await clock.waitForSleepers(1)
        await clock.advance(by: .milliseconds(499))
        #expect(!cancelled.isOpen)
        await clock.advance(by: .milliseconds(1))

        expectSilence(await error)
        try await cancelled.wait()
    }

    @Test("leaves a transport behind that ignores its cancellation")
    func deafTransport() async throws {
        let clock = ManualClock()
        let (asked, release, left) = (Signal(), Signal(), Signal())
        let service = try service(
            ScriptedTransport { _ in
                asked.open()
                await release.waitIgnoringCancel()
                left.open()
                return .text("")
            }, on: clock)

        async let error = service.error()
        try await asked.wait()
        try await clock.waitForSleepers(1)
        await clock.advance(by: .milliseconds(500))
        expectSilence(await error)
        release.open()
        try await left.wait()
    }

    @Test("waits on as long as something comes, and no longer")
    func activity() async throws {
        let clock = ManualClock()
        let body = HeldBody()
        let service = try service(ScriptedTransport { _ in .init(status: 200, body: body.bytes) }, on: clock)

        async let error = service.error()
        // A piece that is asked for shows that the one before has been heard of.
        for piece in 1...4 {
            try await body.asked(piece)
            await clock.advance(by: .milliseconds(400))
            body.send("x")
        }
        try await body.asked(5)
        try await clock.waitForSleepers(1)
        #expect(clock.remaining.count == 1)
        await clock.advance(by: .milliseconds(500))
        expectSilence(await error)
    }

    @Test("waits on as long as something goes")
    func sending() async throws {
        let clock = ManualClock()
        let sending = Signal()
        let sent = Signal()
        let service = try service(
            ScriptedTransport { request in
                try await sending.wait()
                request.didSend(1)
                sent.open()
                try await Signal().wait()
                return .text("")
            }, on: clock)

        async let error = service.error()
        try await clock.waitForSleepers(1)
        await clock.advance(by: .milliseconds(400))
        sending.open()
        try await sent.wait()
        await clock.advance(by: .milliseconds(400))
        // The old end is past. The timer has been set to the new one.
        try await clock.waitForSleepers(1)
        #expect(clock.remaining == [.milliseconds(100)])
        await clock.advance(by: .milliseconds(100))
        expectSilence(await error)
    }

    @Test("fails at its total time-out, its own or the service's, before the idle one", arguments: [true, false])
    func deadline(isOwn: Bool) async throws {
        let clock = ManualClock()
        var service = try service(
            ScriptedTransport { _ in
                try await Signal().wait()
                return .text("")
            }, on: clock)
        if !isOwn { service.configuration.totalTimeout = .milliseconds(250) }

        let asked = service
        async let error = asked.error(
            ServiceRequest(.get, "/a", idleTimeout: .seconds(9), totalTimeout: isOwn ? .milliseconds(250) : nil))
        try await clock.waitForSleepers(1)
        await clock.advance(by: .milliseconds(250))

        #expect(await error?.limit == .total(.milliseconds(250)))
    }

    @Test("takes the longest times there are")
    func longTimes() async throws {
        let service = try service(ScriptedTransport("ok"), on: ManualClock())
        let long = Duration.seconds(Int64.max)

        #expect(
            try await service.request(ServiceRequest(.get, "/", idleTimeout: long, totalTimeout: long)).text == "ok")
    }

    @Test("a finished request leaves no sleeping task")
    func noSleepers() async throws {
        try await TestScope.run {
            let clock = ManualClock()
            let service = try service(ScriptedTransport("ok"), on: clock)

            _ = try await service.request(ServiceRequest(.get, "/", totalTimeout: .seconds(1)))
            // Whoever was to sleep may not have lain down yet.
            await clock.rest()
            #expect(clock.remaining.isEmpty)
        }
    }

    @Test("ends at once when its task is cancelled, with that and nothing else", arguments: [false, true])
    func cancel(isDeaf: Bool) async throws {
        let asked = Signal()
        let release = Signal()
        let service = try service(
            ScriptedTransport { _ in
                asked.open()
                if isDeaf { await release.waitIgnoringCancel() } else { try await release.wait() }
                throw URLError(.networkConnectionLost)
            }, on: ManualClock())

        let task = Task { try await service.request(ServiceRequest(.get, "/")) }
        try await asked.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        release.open()
    }

    @Test("doesn't ask a transport for a task that is cancelled already")
    func cancelledBefore() async throws {
        let transport = ScriptedTransport("ok")
        let service = try service(transport, on: ManualClock())
        let gate = Signal()

        let task = Task {
            await gate.waitIgnoringCancel()
            return try await service.request(ServiceRequest(.get, "/"))
        }
        task.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(transport.asked.isEmpty)
    }
}
