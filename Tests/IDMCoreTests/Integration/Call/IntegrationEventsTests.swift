import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite(.timeLimit(.ample))
struct IntegrationEventsTests {
    private let provider = ControlledDataProvider<Int, Int>()
    private let log = Log()

    /// The event as `recorded(in:)` writes it.
    private func line(_ event: IntegrationEvent<Int>) -> String {
        switch event {
        case .began: "begin"
        case .progressed(let progress): "progress \(progress.fraction)"
        case .retried(let attempt, let error): "retry \(attempt) after \(error)"
        case .succeeded(let value): "success \(value)"
        case .failed(let error): "error \(error)"
        case .cancelled(let reason): "cancel \(reason)"
        case .completed: "completion"
        }
    }

    private func lines(_ call: IntegrationCall<Int>) async -> [String] {
        var lines: [String] = []
        for await event in call.events() { lines.append(line(event)) }
        return lines
    }

    @Test(arguments: HandlerKind.allCases)
    func `a loop receives the events of the handlers`(kind: HandlerKind) async {
        let lines = await lines(Integrator(Provoking(kind)).prepareCall(1).retry(1).recorded(in: log))

        #expect(lines == log.entries)
        #expect(lines.contains("retry 1 after first"))
    }

    @Test func `the events of a call end before a recall`() async {
        let (cache, server) = (Integrator(Echo<Int>()), Integrator(provider))

        #expect(await lines(cache.prepareCall(1).thenRecall(with: server, 2)) == ["begin", "success 1", "completion"])
        server.cancel()
    }

    @Test func `a call starts with the first next()`() async throws {
        let integrator = Integrator(provider, executing: .only)
        var iterator = integrator.prepareCall(1).events().makeAsyncIterator()
        // Made first, so this call has the place.
        let task = integrator.prepareCall(2).call()
        let request = try await provider.waitForRequest()

        #expect(await iterator.next().map(line) == "cancel ignored")
        #expect(await iterator.next().map(line) == nil)
        request.answer(2)
        #expect(await task.outcome == .success(2))
    }

    @Test func `events that come while the loop is busy are kept`() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        var iterator = Integrator(stream).prepareCall(1).recorded(in: log).events().makeAsyncIterator()
        #expect(await iterator.next().map(line) == "begin")
        let request = try await stream.waitForRequest()
        for value in 1...100 { request.send(value) }
        request.finish()
        try await log.contains("completion")
        var lines: [String] = []
        while let event = await iterator.next() { lines.append(line(event)) }

        #expect(lines == (1...100).map { "success \($0)" } + ["completion"])
    }

    @Test func `the call's own handlers run before each event`() async throws {
        /// The handlers are written here: the call hops before each, and the loop could overtake it.
        actor Place {
            func record(_ call: IntegrationCall<Int>, in log: Log) -> IntegrationCall<Int> { call.recorded(in: log) }
        }
        try await explore(seeds: 0..<100) { _ in
            let log = Log()
            let call = await Place().record(Integrator(Echo<Int>()).prepareCall(1), in: log)
            var lines: [String] = []
            for await event in call.events() {
                lines.append(line(event))
                try #require(log.entries.starts(with: lines), "\(log.entries), \(lines)")
            }
            try #require(lines == ["begin", "success 1", "completion"])
        }
    }

    // MARK: Cancel

    @Test(arguments: [false, true])
    func `leaving the loop cancels the call`(ofValues: Bool) async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let call = Integrator(stream).prepareCall(1).recorded(in: log)
        let loop = Task {
            if ofValues {
                for try await _ in call.values() { break }
            } else {
                for await event in call.events() { if case .succeeded = event { break } }
            }
        }
        try await stream.waitForRequest().send(1)
        try await loop.value
        try await log.contains("completion")

        #expect(log.entries == ["begin", "success 1", "cancel cancelled", "completion"])
    }

    @Test func `cancelling the loop's task cancels the call, and the loop ends after it`() async throws {
        let call = Integrator(provider).prepareCall(1)
        let loop = Task { await lines(call) }
        let request = try await provider.waitForRequest()
        loop.cancel()
        try await request.waitUntilCancelled()

        #expect(await loop.value == ["begin", "cancel cancelled", "completion"])
    }

    @Test func `a loop in a cancelled task asks no provider`() async throws {
        let call = Integrator(provider).prepareCall(1)

        #expect(try await cancelledTask { await lines(call) }.value == ["cancel cancelled"])
        #expect(provider.requestCount == 0)
    }

    @Test(arguments: [false, true])
    func `a loop that ends, or is left after the value, leaves the chain alone`(isLeft: Bool) async throws {
        let stage = Stage()
        let next = Integrator(provider).prepareCall(2)
        let first = stage.here { stage in Integrator(Echo<Int>()).prepareCall(1).onCompletion {} }.nextSuccess(next)
        if !isLeft { stage.executor.open() }
        for await event in first.events() {
            if case .succeeded = event, isLeft { break }
        }
        // The completion of a loop that was left is still pending.
        stage.executor.open()

        try await provider.waitForRequest().answer(2)
    }

    // MARK: values()

    @Test func `values() returns each value, then throws the error`() async {
        var values: [Int] = []
        await #expect(throws: Trouble.first) {
            for try await value in Integrator(Listed(1, 2, error: Trouble.first)).prepareCall(0).recorded(in: log)
                .values()
            { values.append(value) }
        }

        #expect(values == [1, 2])
        #expect(log.entries == ["begin", "success 1", "success 2", "error first", "completion"])
    }

    @Test func `values() of a call without a result throws the reason`() async throws {
        let integrator = Integrator(provider, executing: .only)
        let first = integrator.prepareCall(1).call()
        let second = integrator.prepareCall(2)

        #expect(await thrownReason { for try await _ in second.values() {} } == .ignored)
        first.cancel()
    }

    @Test func `values() throws CancellationError in a cancelled task`() async throws {
        let call = Integrator(provider).prepareCall(1)
        let loop = Task { for try await _ in call.values() {} }
        let request = try await provider.waitForRequest()
        loop.cancel()

        await #expect(throws: CancellationError.self) { try await loop.value }
        try await request.waitUntilCancelled()
    }
}
