import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("The events of a call", .timeLimit(.ample))
struct IntegrationEventsTests {
    private let provider = ControlledDataProvider<Int, Int>()

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

    @Test("A loop hears what the handlers hear, in the same order, and ends", arguments: HandlerKind.allCases)
    func sameAsHandlers(kind: HandlerKind) async {
        let log = Log()
        let call = Integrator(Provoking(kind)).prepareCall(1).onProgress { _ in }.retry(1).recorded(in: log)
        let lines = await lines(call)
        #expect(lines == log.entries)
        #expect(lines.first == "begin")
        #expect(lines.last == "completion")
        #expect(lines.contains("retry 1 after first"))
    }

    @Test("A call that never starts has one event")
    func unstarted() async {
        let integrator = Integrator(provider, executing: .only)
        let first = integrator.prepareCall(1).call()
        #expect(await lines(integrator.prepareCall(2)) == ["cancel ignored"])
        first.cancel()
    }

    @Test("Each value of a stream is an event")
    func stream() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let call = Integrator(stream).prepareCall(1)
        async let heard = lines(call)
        let request = try await stream.waitForRequest()
        for value in 1...3 { request.send(value) }
        request.fail(Trouble.first)
        #expect(await heard == ["begin", "success 1", "success 2", "success 3", "error first", "completion"])
    }

    @Test("Nothing happens before the first next")
    func startsAtFirstNext() async throws {
        let integrator = Integrator(provider, executing: .only)
        let events = integrator.prepareCall(1).events()
        var iterator = events.makeAsyncIterator()
        // Whatever is made before this has the place.
        let task = integrator.prepareCall(2).call()
        let request = try await provider.waitForRequest()
        #expect(request.input == 2)
        let first = await iterator.next()
        #expect(first.map(line) == "cancel ignored")
        request.answer(2)
        #expect(await task.outcome == .success(2))
        #expect(provider.requestCount == 1)
    }

    @Test("Each iterator makes a call of its own")
    func twice() async {
        let events = Integrator(Echo<Int>()).prepareCall(1).events()
        for _ in 1...2 {
            var lines: [String] = []
            for await event in events { lines.append(line(event)) }
            #expect(lines == ["begin", "success 1", "completion"])
        }
    }

    @Test("Leaving the loop cancels the call")
    func leaving() async throws {
        let log = Log()
        let call = Integrator(provider).prepareCall(1).recorded(in: log)
        for await event in call.events() {
            if case .began = event { break }
        }
        try await log.contains("completion")
        #expect(log.entries == ["begin", "cancel cancelled", "completion"])
    }

    @Test("Cancelling the task that loops cancels the call, and the loop hears of it")
    func cancelled() async throws {
        let call = Integrator(provider).prepareCall(1)
        let loop = Task { await lines(call) }
        let request = try await provider.waitForRequest()
        loop.cancel()
        try await request.waitUntilCancelled()
        #expect(await loop.value == ["begin", "cancel cancelled", "completion"])
    }

    @Test("A loop in a task that is cancelled already asks nobody, and hears of the cancel")
    func cancelledBefore() async {
        let call = Integrator(provider).prepareCall(1)
        let loop = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await lines(call)
        }
        #expect(await loop.value == ["cancel cancelled"])
        #expect(provider.requestCount == 0)
    }

    @Test("Events that come while the loop is busy are kept")
    func nothingLost() async throws {
        let (stream, log) = (ControlledStreamDataProvider<Int, Int>(), Log())
        let call = Integrator(stream).prepareCall(1).recorded(in: log)
        var iterator = call.events().makeAsyncIterator()
        #expect(await iterator.next().map(line) == "begin")
        let request = try await stream.waitForRequest()
        for value in 1...100 { request.send(value) }
        request.finish()
        try await log.contains("completion")
        var lines: [String] = []
        while let event = await iterator.next() { lines.append(line(event)) }
        #expect(lines == (1...100).map { "success \($0)" } + ["completion"])
        #expect(await iterator.next().map(line) == nil)
    }

    @Test("A loop that has come to its end leaves the chain alone")
    func chainGoesOn() async throws {
        let log = Log()
        let next = Integrator(provider).prepareCall(2).recorded(in: log)
        let first = Integrator(Echo<Int>()).prepareCall(1).nextSuccess(next)
        #expect(await lines(first) == ["begin", "success 1", "completion"])
        try await provider.waitForRequest().answer(2)
        try await log.contains("completion")
        #expect(log.entries == ["begin", "success 2", "completion"])
    }

    @Test("A loop that is left once the end is decided leaves the chain alone as well")
    func chainGoesOnWithoutTheLoop() async throws {
        let stage = Stage()
        let next = Integrator(provider).prepareCall(2)
        let first = stage.here { stage in Integrator(Echo<Int>()).prepareCall(1).onCompletion {} }.nextSuccess(next)
        for await event in first.events() {
            if case .succeeded = event { break }
        }
        // The completion is still to be heard.
        stage.executor.open()
        try await provider.waitForRequest().answer(2)
    }

    @Test("The call's own handlers run before each event")
    func ownHandlersFirst() async throws {
        /// Where the handlers are written: the run comes and goes before each, and the loop could overtake it.
        actor Place {
            func record(_ call: IntegrationCall<Int>, in log: Log) -> IntegrationCall<Int> { call.recorded(in: log) }
        }
        try await explore(seeds: 0..<100) { _ in
            let log = Log()
            let call = await Place().record(Integrator(Echo<Int>()).prepareCall(1), in: log)
            var heard: [String] = []
            for await event in call.events() {
                heard.append(line(event))
                try #require(log.entries.starts(with: heard), "\(log.entries), \(heard)")
            }
            try #require(heard == ["begin", "success 1", "completion"])
        }
    }
}
