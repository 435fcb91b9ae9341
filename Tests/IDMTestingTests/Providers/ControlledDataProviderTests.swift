import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("A controlled provider", .timeLimit(.ample))
struct ControlledDataProviderTests {
    @Test("waits for the test, which answers, fails or drops")
    func ends() async throws {
        let provider = ControlledDataProvider<Int, String>()
        let integrator = Integrator(provider)
        let answered = integrator.prepareCall(1).call()
        try await provider.nextRequest().answer("a")
        #expect(await answered.outcome == .success("a"))
        let failed = integrator.prepareCall(2).call()
        try await provider.nextRequest().fail(Trouble.first)
        #expect(await failed.outcome.error as? Trouble == .first)
        let dropped = integrator.prepareCall(3).call()
        try await provider.nextRequest().drop()
        #expect(await dropped.outcome.error as? DataProviderError == .noAnswer)
        #expect(provider.requests.map(\.input) == [1, 2, 3])
        #expect(provider.requestCount == 3)
    }

    /// On the main actor: the task that asks has its turn when all ends have been given.
    @Test("hears one end of each request")
    @MainActor
    func firstEnd() async throws {
        let provider = ControlledDataProvider<Int, String>()
        let task = Task { try await provider.request(1) }
        let request = try await provider.nextRequest()
        request.answer("a")
        request.answer("b")
        request.fail(Trouble.first)
        #expect(try await task.value == "a")
        try await request.ended()
        #expect(request.isOver)
    }

    @Test("ends a request when its task is cancelled, unless it doesn't hear", arguments: [true, false])
    func cancel(hearsCancel: Bool) async throws {
        let provider = ControlledDataProvider<Int, Int>(hearsCancel: hearsCancel)
        let task = Task { try await provider.request(1) }
        let request = try await provider.nextRequest()
        #expect(!request.isCancelled && !request.isOver)
        task.cancel()
        try await request.cancelled()
        #expect(request.isCancelled)
        if hearsCancel {
            await #expect(throws: CancellationError.self) { try await task.value }
        } else {
            request.answer(2)
            #expect(try await task.value == 2)
        }
    }

    // On the main actor the request goes on only after both have come.
    @Test("hears what comes first, the answer or the cancel", arguments: [true, false])
    @MainActor
    func cancelAndAnswer(isCancelledFirst: Bool) async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let task = Task { try await provider.request(1) }
        let request = try await provider.nextRequest()
        if isCancelledFirst { task.cancel() }
        request.answer(2)
        if isCancelledFirst {
            await #expect(throws: CancellationError.self) { try await task.value }
        } else {
            task.cancel()
            #expect(try await task.value == 2)
        }
    }

    @Test("answers after some time on a clock, which knows of it at once")
    func delayed() async throws {
        let (provider, clock) = (ControlledDataProvider<Int, Int>(), ManualClock())
        let task = Integrator(provider, clock: clock).prepareCall(1).call()
        try await provider.nextRequest().answer(2, after: .seconds(3), on: clock)
        await clock.advance(by: .seconds(2))
        #expect(clock.remaining == [.seconds(1)])
        await clock.advance(by: .seconds(1))
        #expect(await task.outcome == .success(2))
    }

    @Test("waits for no time any more when the request has ended")
    func delayedInVain() async throws {
        let (provider, clock) = (ControlledDataProvider<Int, Int>(), ManualClock())
        let task = Integrator(provider, clock: clock).prepareCall(1).call()
        let request = try await provider.nextRequest()
        request.answer(2, after: .seconds(3), on: clock)
        request.answer(1)
        #expect(await task.outcome == .success(1))
        request.answer(2, after: .seconds(3), on: clock)
        await clock.run()
        #expect(clock.now.offset == .zero)
    }

    @Test("holds the ambient pause control of each request, whatever its form")
    func pauses() async throws {
        let control = PauseControl()
        let plain = ControlledDataProvider<Int, Int>()
        let stream = ControlledStreamDataProvider<Int, Int>()
        let callback = ControlledCallbackDataProvider<Int, Int>()
        let tasks = control.bind {
            [Integrator(plain).prepareCall(1).call(), Integrator(stream).prepareCall(1).call()]
                + [Integrator(callback).prepareCall(1).call()]
        }
        #expect(try await plain.nextRequest().pauseControl === control)
        #expect(try await stream.nextRequest().pauseControl === control)
        #expect(try await callback.nextRequest().pauseControl === control)
        for task in tasks { task.cancel() }
    }

    @Test("waits no longer for a request when the task that waits is cancelled")
    func givesUp() async throws {
        let (provider, clock) = (ControlledDataProvider<Int, Int>(), ManualClock())
        let waiter = Task(executorPreference: clock.executor) { try await provider.nextRequest() }
        await clock.run()
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
    }

    @Test("loses no request to somebody who has given up waiting for it")
    func nothingLost() async throws {
        let (provider, clock) = (ControlledDataProvider<Int, Int>(), ManualClock())
        let waiter = Task(executorPreference: clock.executor) { try await provider.nextRequest() }
        await clock.run()
        waiter.cancel()
        _ = try? await waiter.value
        let task = Task { try await provider.request(7) }
        try await provider.nextRequest().answer(8)
        #expect(try await task.value == 8)
    }

    @Test("gives each request to one of those who wait")
    func manyWait() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let waiters = (0..<20).map { _ in Task { try await provider.nextRequest().input } }
        let asking = (0..<20).map { input in Task { try await provider.request(input) } }
        var inputs: Set<Int> = []
        for waiter in waiters { inputs.insert(try await waiter.value) }
        #expect(inputs == Set(0..<20))
        for task in asking { task.cancel() }
    }

    @Test("holds the ambient reporter of each request")
    func reporter() async throws {
        let (provider, log) = (ControlledDataProvider<Int, Int>(), Log())
        let task = Integrator(provider).prepareCall(1).onProgress { log.add("\($0.fraction)") }.call()
        let request = try await provider.nextRequest()
        request.reporter?.report(fraction: 0.5)
        try await log.count(reaches: 1)
        request.answer(1)
        await task.finish()
        #expect(log.entries == ["0.5"])
    }
}

@Suite("A controlled stream", .timeLimit(.ample))
struct ControlledStreamDataProviderTests {
    @Test("delivers what the test sends, in order, and ends with it")
    func values() async throws {
        let (stream, log) = (ControlledStreamDataProvider<Int, Int>(), Log())
        let task = Integrator(stream).prepareCall(1).onSuccess { log.add("\($0)") }.call()
        let request = try await stream.nextRequest()
        request.send(1)
        request.send(2)
        #expect(!request.isOver)
        request.finish()
        request.send(3)
        try await request.ended()
        await task.finish()
        #expect(log.entries == ["1", "2"])
        #expect(stream.requestCount == 1)
        #expect(stream.requests[0].input == 1)
    }

    @Test("fails after the values sent before")
    func fails() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let task = Integrator(stream).prepareCall(1).call()
        let request = try await stream.nextRequest()
        request.send(1)
        request.fail(Trouble.first)
        #expect(await task.outcome.error as? Trouble == .first)
    }

    @Test("ends when its task is cancelled, unless it doesn't hear", arguments: [true, false])
    func cancel(hearsCancel: Bool) async throws {
        let stream = ControlledStreamDataProvider<Int, Int>(hearsCancel: hearsCancel)
        let task = Task { try await stream.request(1) }
        let request = try await stream.nextRequest()
        task.cancel()
        try await request.cancelled()
        #expect(request.isCancelled)
        request.send(1)
        request.finish()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    // On the main actor the stream goes on only after all of it has come.
    @Test("delivers what was sent before a cancel, and nothing that is sent later", arguments: [true, false])
    @MainActor
    func cancelAndSend(hearsCancel: Bool) async throws {
        let (stream, log) = (ControlledStreamDataProvider<Int, Int>(hearsCancel: hearsCancel), Log())
        let task = Task { for try await value in stream.values(for: 1) { log.add("\(value)") } }
        let request = try await stream.nextRequest()
        request.send(1)
        task.cancel()
        request.send(2)
        request.finish()
        if hearsCancel {
            await #expect(throws: CancellationError.self) { try await task.value }
        } else {
            try await task.value
        }
        #expect(log.entries == (hearsCancel ? ["1"] : ["1", "2"]))
    }

    @Test("asks for nothing before its first value is awaited")
    func lazy() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        _ = stream.values(for: 1).makeAsyncIterator()
        #expect(stream.requestCount == 0)
    }

    @Test("is over when nobody listens to it any more, and waits for no cancel then")
    func abandoned() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let task = Task { for try await _ in stream.values(for: 1) { return } }
        let request = try await stream.nextRequest()
        request.send(1)
        try await request.ended()
        try await request.cancelled()
        #expect(request.isOver && !request.isCancelled)
        try await task.value
    }

    @Test("is over when a call is cancelled while it hears of a value")
    @MainActor
    func cancelledBetweenValues() async throws {
        let (stream, running) = (ControlledStreamDataProvider<Int, Int>(), Watched<IntegrationTask<Int>?>(nil))
        let task = Integrator(stream).prepareCall(1).onSuccess { _ in running.value?.cancel() }.call()
        running.change { $0 = task }
        let request = try await stream.nextRequest()
        request.send(1)
        try await request.cancelled()
        try await request.ended()
        running.change { $0 = nil }
    }
}

extension ControlledDataProviderTests {
    @Test("holds no answer of a request that is over, nor one that comes later")
    func letGo() async throws {
        final class Screen: Sendable {}
        let provider = ControlledDataProvider<Int, Screen>()
        try await TestScope.run {
            let leaks = LeakTracker()
            let task = Task { _ = try await provider.request(1) }
            let request = try await provider.nextRequest()
            for _ in 0..<2 { request.answer(leaks.track(Screen())) }
            try await task.value
            request.answer(leaks.track(Screen()))
        }
        #expect(provider.requests.map(\.isOver) == [true])
    }
}

extension ControlledStreamDataProviderTests {
    @Test("holds nothing that was sent and that nobody listens to any more")
    func letGo() async throws {
        final class Screen: Sendable {}
        let stream = ControlledStreamDataProvider<Int, Screen>()
        try await TestScope.run {
            let leaks = LeakTracker()
            var values: ControlledStreamDataProvider<Int, Screen>.Values.Iterator? = stream.values(for: 1)
                .makeAsyncIterator()
            let first = leaks.track(Screen())
            let sender = Task {
                let request = try await stream.nextRequest()
                request.send(first)
                request.send(leaks.track(Screen()))
            }
            _ = try await values?.next(isolation: #isolation)
            try await sender.value
            values = nil
        }
        #expect(stream.requests.map(\.isOver) == [true])
    }
}

@Suite("A controlled callback provider", .timeLimit(.ample))
struct ControlledCallbackDataProviderTests {
    @Test("calls back as often as the test says, and the first is heard")
    func twice() async throws {
        let provider = ControlledCallbackDataProvider<Int, String>()
        let task = Integrator(provider).prepareCall(1).call()
        let request = try await provider.nextRequest()
        request.answer("a")
        request.answer("b")
        request.fail(Trouble.first)
        #expect(await task.outcome == .success("a"))
        #expect(provider.requestCount == 1)
        #expect(provider.requests[0].input == 1)
    }

    @Test("may never call back: the completion is let go")
    func never() async throws {
        let provider = ControlledCallbackDataProvider<Int, String>()
        let task = Integrator(provider).prepareCall(1).call()
        let request = try await provider.nextRequest()
        request.drop()
        #expect(await task.outcome.error as? DataProviderError == .noAnswer)
        request.answer("too late")
    }

    @Test("may call back after a cancel, which it counts")
    func late() async throws {
        let provider = ControlledCallbackDataProvider<Int, String>()
        let task = Integrator(provider).prepareCall(1).call()
        let request = try await provider.nextRequest()
        #expect(request.cancelCount == 0)
        task.cancel()
        try await request.cancelled()
        request.answer("too late")
        #expect(await task.outcome == .cancelled(.cancelled))
        #expect(request.cancelCount == 1)
    }

    @Test("may be one that can't be stopped")
    func unstoppable() async throws {
        let provider = ControlledCallbackDataProvider<Int, String>(hasCancelHandler: false)
        let task = Integrator(provider).prepareCall(1).call()
        let request = try await provider.nextRequest()
        task.cancel()
        #expect(await task.outcome == .cancelled(.cancelled))
        #expect(request.cancelCount == 0)
    }
}
