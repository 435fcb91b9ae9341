import IDMCore
import IDMTesting
import TestSupport
import Testing

/// Faults of the original package that no other test covers.
@Suite(.inScope, .timeLimit(.ample))
@MainActor
struct WhatTheOriginalGotWrongTests {
    private let log = Log()

    @Test func `a thousand calls of default, one after the other, run once each`() async {
        let integrator = Integrator(Echo<Int>())
        integrator.onSuccess { [log] in log.add("\($0)") }
        for input in 0..<1_000 { await integrator.prepareCall(input).call().finish() }

        #expect(log.entries == (0..<1_000).map { "\($0)" })
    }

    @Test func `a cancel reaches the second stage of a sequence`() async throws {
        let (first, second) = (ControlledDataProvider<Int, Int>(), ControlledDataProvider<Int, Int>())
        let task = Integrator(first >>>> second).prepareCall(1).call()
        try await first.waitForRequest().answer(2)
        let request = try await second.waitForRequest()
        task.cancel()
        try await request.waitUntilCancelled()
        await task.finish()
    }

    @Test func `two hundred sequences of a hundred stages block no thread`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        var deep = provider.eraseToAnyDataProvider()
        for _ in 0..<100 { deep = (deep >>>> { $0 + 1 }).eraseToAnyDataProvider() }
        let integrator = Integrator(deep)
        let tasks = (0..<200).map { integrator.prepareCall($0).call() }
        var requests: [ControlledRequest<Int, Int>] = []
        for _ in tasks { requests.append(try await provider.waitForRequest()) }
        #expect(try await Integrator(Echo<Int>()).request(7) == 7)
        for request in requests { request.answer(request.input) }
        var values: [Int] = []
        for task in tasks { values.append(try await task.value) }

        #expect(values == (100..<300).map { $0 })
    }

    @Test func `a released group cancels its members`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        var integrator: Integrator<(Int, Int), (Int, Int)>? = Integrator(
            provider >><< provider, cancelsWhenReleased: true)
        _ = integrator?.prepareCall((1, 2)).recorded(in: log).call()
        let requests = [try await provider.waitForRequest(), try await provider.waitForRequest()]
        integrator = nil
        for request in requests { try await request.waitUntilCancelled() }
        try await log.contains("completion")

        #expect(log.entries == ["begin", "cancel released", "completion"])
    }

    @Test func `latest continues when the cancels of its providers never call back`() async throws {
        let callbacks = ControlledCallbackDataProvider<Int, Int>()
        let integrator = Integrator(callbacks, executing: .latest)
        for _ in 1...10 {
            integrator.prepareCall(1).call()
            _ = try await callbacks.waitForRequest()
        }
        let last = integrator.prepareCall(2).call()
        try await callbacks.waitForRequest().answer(2)

        #expect(await last.outcome == .success(2))
    }

    @Test func `cancelled queued calls neither deliver nor run beside another`() async throws {
        let (provider, crowd) = (ControlledDataProvider<Int, Int>(reactsToCancel: false), Crowd())
        let integrator = Integrator(provider, executing: .queue)
        integrator.onBeginning { crowd.enter() }
        let tasks = (0..<20).map { input in
            integrator.prepareCall(input).recorded(in: log, as: "\(input)").onCompletion { crowd.leave() }.call()
        }
        for input in stride(from: 1, to: 20, by: 2) { tasks[input].cancel() }
        for input in stride(from: 0, to: 20, by: 2) {
            let request = try await provider.waitForRequest()
            // Also a running one: its provider is deaf and answers all the same.
            if input % 4 == 0 { tasks[input].cancel() }
            request.answer(input)
        }
        for task in tasks { await task.finish() }

        let expected = (0..<20).map { input -> [String] in
            if input % 2 == 1 { return ["cancel cancelled"] }
            return ["begin", input % 4 == 0 ? "cancel cancelled" : "success \(input)", "completion"]
        }
        #expect((0..<20).map { log.entries(of: "\($0)") } == expected)
        #expect(crowd.most == 1)
        #expect(provider.requestCount == 10)
    }

    @Test func `a sequence that contains a busy only ends as ignored`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let only = Integrator(provider, executing: .only)
        let running = only.prepareCall(0).call()
        _ = try await provider.waitForRequest()

        let outcome = await Integrator(Echo<Int>() >>>> only >>>> { $0 + 1 }).prepareCall(1).call().outcome
        running.cancel()
        await running.finish()

        #expect(outcome == .cancelled(.ignored))
    }

    @Test func `an unknown error reaches router, handler and caller`() async {
        struct Unknown: Error {}
        let router = ErrorRouter()
        router.on(Trouble.self) { _ in }.otherwise { [log] in log.add("router \(type(of: $0))") }
        let task = Integrator(Failing(Unknown())).prepareCall(1)
            .errorHandler(router).onError { [log] in log.add("handler \(type(of: $0))") }.call()
        await task.finish()

        #expect(log.entries == ["router Unknown", "handler Unknown"])
        await #expect(throws: Unknown.self) { try await task.value }
    }
}
