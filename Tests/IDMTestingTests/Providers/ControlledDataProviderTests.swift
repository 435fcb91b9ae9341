import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("A controlled provider", .timeLimit(.ample))
struct ControlledDataProviderTests {
    @Test("A controlled request waits until the test answers, fails or drops it")
    func ends() async throws {
        let provider = ControlledDataProvider<Int, String>()
        let integrator = Integrator(provider)
        let answered = integrator.prepareCall(1).call()
        try await provider.waitForRequest().answer("a")
        #expect(await answered.outcome == .success("a"))
        let failed = integrator.prepareCall(2).call()
        try await provider.waitForRequest().fail(Trouble.first)
        #expect(await failed.outcome.error as? Trouble == .first)
        let dropped = integrator.prepareCall(3).call()
        try await provider.waitForRequest().drop()
        #expect(await dropped.outcome.error as? DataProviderError == .noAnswer)
        #expect(provider.requests.map(\.input) == [1, 2, 3])
        #expect(provider.requestCount == 3)
    }

    /// On the main actor: the task that asks has its turn when all ends have been given.
    @Test("The first end of a controlled request counts")
    @MainActor
    func firstEnd() async throws {
        let provider = ControlledDataProvider<Int, String>()
        let task = Task { try await provider.request(1) }
        let request = try await provider.waitForRequest()
        request.answer("a")
        request.answer("b")
        request.fail(Trouble.first)
        #expect(try await task.value == "a")
        try await request.waitUntilEnded()
        #expect(request.isOver)
    }

    @Test("A cancel ends a controlled request, unless it ignores cancels", arguments: [true, false])
    func cancel(reactsToCancel: Bool) async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: reactsToCancel)
        let task = Task { try await provider.request(1) }
        let request = try await provider.waitForRequest()
        #expect(!request.isCancelled && !request.isOver)
        task.cancel()
        try await request.waitUntilCancelled()
        #expect(request.isCancelled)
        if reactsToCancel {
            await #expect(throws: CancellationError.self) { try await task.value }
        } else {
            request.answer(2)
            #expect(try await task.value == 2)
        }
    }

    // On the main actor the request goes on only after both have come.
    @Test("An answer and a cancel of a controlled request race in order", arguments: [true, false])
    @MainActor
    func cancelAndAnswer(isCancelledFirst: Bool) async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let task = Task { try await provider.request(1) }
        let request = try await provider.waitForRequest()
        if isCancelledFirst { task.cancel() }
        request.answer(2)
        if isCancelledFirst {
            await #expect(throws: CancellationError.self) { try await task.value }
        } else {
            task.cancel()
            #expect(try await task.value == 2)
        }
    }

    @Test("A controlled request answers after a duration on a clock")
    func delayed() async throws {
        let (provider, clock) = (ControlledDataProvider<Int, Int>(), ManualClock())
        let task = Integrator(provider, clock: clock).prepareCall(1).call()
        try await provider.waitForRequest().answer(2, after: .seconds(3), on: clock)
        await clock.advance(by: .seconds(2))
        #expect(clock.remaining == [.seconds(1)])
        await clock.advance(by: .seconds(1))
        #expect(await task.outcome == .success(2))
    }

    @Test("A delayed answer is cancelled with its request")
    func delayedInVain() async throws {
        let (provider, clock) = (ControlledDataProvider<Int, Int>(), ManualClock())
        let task = Integrator(provider, clock: clock).prepareCall(1).call()
        let request = try await provider.waitForRequest()
        request.answer(2, after: .seconds(3), on: clock)
        request.answer(1)
        #expect(await task.outcome == .success(1))
        request.answer(2, after: .seconds(3), on: clock)
        await clock.run()
        #expect(clock.now.offset == .zero)
    }

    @Test("A controlled request has the pause control of its caller")
    func pauses() async throws {
        let control = PauseControl()
        let plain = ControlledDataProvider<Int, Int>()
        let stream = ControlledStreamDataProvider<Int, Int>()
        let callback = ControlledCallbackDataProvider<Int, Int>()
        let tasks = control.bind {
            [Integrator(plain).prepareCall(1).call(), Integrator(stream).prepareCall(1).call()]
                + [Integrator(callback).prepareCall(1).call()]
        }
        #expect(try await plain.waitForRequest().pauseControl === control)
        #expect(try await stream.waitForRequest().pauseControl === control)
        #expect(try await callback.waitForRequest().pauseControl === control)
        for task in tasks { task.cancel() }
    }

    @Test("A cancelled wait for a request throws")
    func givesUp() async throws {
        let (provider, clock) = (ControlledDataProvider<Int, Int>(), ManualClock())
        let waiter = Task(executorPreference: clock.executor) { try await provider.waitForRequest() }
        await clock.run()
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
    }

    @Test("A cancelled wait leaves the request to the next wait")
    func nothingLost() async throws {
        let (provider, clock) = (ControlledDataProvider<Int, Int>(), ManualClock())
        let waiter = Task(executorPreference: clock.executor) { try await provider.waitForRequest() }
        await clock.run()
        waiter.cancel()
        _ = try? await waiter.value
        let task = Task { try await provider.request(7) }
        try await provider.waitForRequest().answer(8)
        #expect(try await task.value == 8)
    }

    @Test("Each of several waits gets a request of its own")
    func manyWait() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let waiters = (0..<20).map { _ in Task { try await provider.waitForRequest().input } }
        let asking = (0..<20).map { input in Task { try await provider.request(input) } }
        var inputs: Set<Int> = []
        for waiter in waiters { inputs.insert(try await waiter.value) }
        #expect(inputs == Set(0..<20))
        for task in asking { task.cancel() }
    }

    @Test("A controlled request has the progress reporter of its caller")
    func reporter() async throws {
        let (provider, log) = (ControlledDataProvider<Int, Int>(), Log())
        let task = Integrator(provider).prepareCall(1).onProgress { log.add("\($0.fraction)") }.call()
        let request = try await provider.waitForRequest()
        request.reporter?.report(fraction: 0.5)
        try await log.count(reaches: 1)
        request.answer(1)
        await task.finish()
        #expect(log.entries == ["0.5"])
    }
}

@Suite("A controlled stream", .timeLimit(.ample))
struct ControlledStreamDataProviderTests {
    @Test("A controlled stream delivers the sent values in order, and ends")
    func values() async throws {
        let (stream, log) = (ControlledStreamDataProvider<Int, Int>(), Log())
        let task = Integrator(stream).prepareCall(1).onSuccess { log.add("\($0)") }.call()
        let request = try await stream.waitForRequest()
        request.send(1)
        request.send(2)
        #expect(!request.isOver)
        request.finish()
        request.send(3)
        try await request.waitUntilEnded()
        await task.finish()
        #expect(log.entries == ["1", "2"])
        #expect(stream.requestCount == 1)
        #expect(stream.requests[0].input == 1)
    }

    @Test("A controlled stream fails after the values sent before")
    func fails() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let task = Integrator(stream).prepareCall(1).call()
        let request = try await stream.waitForRequest()
        request.send(1)
        request.fail(Trouble.first)
        #expect(await task.outcome.error as? Trouble == .first)
    }

    @Test("A cancel ends a controlled stream, unless it ignores cancels", arguments: [true, false])
    func cancel(reactsToCancel: Bool) async throws {
        let stream = ControlledStreamDataProvider<Int, Int>(reactsToCancel: reactsToCancel)
        let task = Task { try await stream.request(1) }
        let request = try await stream.waitForRequest()
        task.cancel()
        try await request.waitUntilCancelled()
        #expect(request.isCancelled)
        request.send(1)
        request.finish()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    // On the main actor the stream goes on only after all of it has come.
    @Test("A cancelled stream delivers the values sent before, and no later value", arguments: [true, false])
    @MainActor
    func cancelAndSend(reactsToCancel: Bool) async throws {
        let (stream, log) = (ControlledStreamDataProvider<Int, Int>(reactsToCancel: reactsToCancel), Log())
        let task = Task { for try await value in stream.values(for: 1) { log.add("\(value)") } }
        let request = try await stream.waitForRequest()
        request.send(1)
        task.cancel()
        request.send(2)
        request.finish()
        if reactsToCancel {
            await #expect(throws: CancellationError.self) { try await task.value }
        } else {
            try await task.value
        }
        #expect(log.entries == (reactsToCancel ? ["1"] : ["1", "2"]))
    }

    @Test("A controlled stream begins with its first awaited value")
    func lazy() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        _ = stream.values(for: 1).makeAsyncIterator()
        #expect(stream.requestCount == 0)
    }

    @Test("A controlled stream is over when its iterator is released")
    func abandoned() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let task = Task { for try await _ in stream.values(for: 1) { return } }
        let request = try await stream.waitForRequest()
        request.send(1)
        try await request.waitUntilEnded()
        try await request.waitUntilCancelled()
        #expect(request.isOver && !request.isCancelled)
        try await task.value
    }

    @Test("A controlled stream is over when a handler cancels its call")
    @MainActor
    func cancelledBetweenValues() async throws {
        let (stream, running) = (ControlledStreamDataProvider<Int, Int>(), Observed<IntegrationTask<Int>?>(nil))
        let task = Integrator(stream).prepareCall(1).onSuccess { _ in running.value?.cancel() }.call()
        running.change { $0 = task }
        let request = try await stream.waitForRequest()
        request.send(1)
        try await request.waitUntilCancelled()
        try await request.waitUntilEnded()
        running.change { $0 = nil }
    }
}

extension ControlledDataProviderTests {
    @Test("A controlled request that is over retains no answer")
    func letGo() async throws {
        final class Screen: Sendable {}
        let provider = ControlledDataProvider<Int, Screen>()
        try await TestScope.run {
            let leaks = LeakTracker()
            let task = Task { _ = try await provider.request(1) }
            let request = try await provider.waitForRequest()
            for _ in 0..<2 { request.answer(leaks.track(Screen())) }
            try await task.value
            request.answer(leaks.track(Screen()))
        }
        #expect(provider.requests.map(\.isOver) == [true])
    }
}

extension ControlledStreamDataProviderTests {
    @Test("A released stream retains no sent value")
    func letGo() async throws {
        final class Screen: Sendable {}
        let stream = ControlledStreamDataProvider<Int, Screen>()
        try await TestScope.run {
            let leaks = LeakTracker()
            var values: ControlledStreamDataProvider<Int, Screen>.Values.Iterator? = stream.values(for: 1)
                .makeAsyncIterator()
            let first = leaks.track(Screen())
            let sender = Task {
                let request = try await stream.waitForRequest()
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
    @Test("A controlled callback may come twice, and the first one counts")
    func twice() async throws {
        let provider = ControlledCallbackDataProvider<Int, String>()
        let task = Integrator(provider).prepareCall(1).call()
        let request = try await provider.waitForRequest()
        request.answer("a")
        request.answer("b")
        request.fail(Trouble.first)
        #expect(await task.outcome == .success("a"))
        #expect(provider.requestCount == 1)
        #expect(provider.requests[0].input == 1)
    }

    @Test("A dropped callback request releases its completion")
    func never() async throws {
        let provider = ControlledCallbackDataProvider<Int, String>()
        let task = Integrator(provider).prepareCall(1).call()
        let request = try await provider.waitForRequest()
        request.drop()
        #expect(await task.outcome.error as? DataProviderError == .noAnswer)
        request.answer("too late")
    }

    @Test("A callback request counts its cancels, and may call back later")
    func late() async throws {
        let provider = ControlledCallbackDataProvider<Int, String>()
        let task = Integrator(provider).prepareCall(1).call()
        let request = try await provider.waitForRequest()
        #expect(request.cancelCount == 0)
        task.cancel()
        try await request.waitUntilCancelled()
        request.answer("too late")
        #expect(await task.outcome == .cancelled(.cancelled))
        #expect(request.cancelCount == 1)
    }

    @Test("A callback provider may have no cancel handler")
    func unstoppable() async throws {
        let provider = ControlledCallbackDataProvider<Int, String>(hasCancelHandler: false)
        let task = Integrator(provider).prepareCall(1).call()
        let request = try await provider.waitForRequest()
        task.cancel()
        #expect(await task.outcome == .cancelled(.cancelled))
        #expect(request.cancelCount == 0)
    }
}
