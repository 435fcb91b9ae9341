import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite(.timeLimit(.ample))
struct PauseControlTests {
    private let control = PauseControl()
    /// Not advanced by most tests: `run()` waits until all started work is at rest.
    private let clock = ManualClock()

    @Test func `a request without a control has none and passes checkpoints`() async throws {
        #expect(PauseControl.current == nil)
        try await PauseControl.checkpoint()
    }

    @Test func `a provider finds the control of its caller only`() async throws {
        let provider = ClosureDataProvider<Void, Bool> { [control] _ in PauseControl.current === control }
        #expect(try await control.bind { try await provider.request() })
        #expect(try await !provider.request())
    }

    @Test func `resuming a control resumes all waiting requests`() async throws {
        control.pause()
        control.pause()
        let asked = Log()
        let provider = ClosureDataProvider<Void, Int> { _ in
            asked.add("asked")
            try await PauseControl.checkpoint()
            return 1
        }
        let tasks = (0..<10).map { _ in
            Task { [control] in try await control.bind { try await provider.request() } }
        }
        try await asked.count(reaches: 10)
        control.resume()
        for task in tasks { #expect(try await task.value == 1) }
    }

    @Test func `a cancel before or during the wait ends it`() async throws {
        control.pause()
        let task = Task(executorPreference: clock.executor) { [control] in try await control.waitWhilePaused() }
        await clock.run()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let cancelled = Task { [control] in
            withUnsafeCurrentTask { $0?.cancel() }
            try await control.waitWhilePaused()
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }

    @Test func `a control paused again at once keeps requests waiting`() async throws {
        control.pause()
        let log = Log()
        let task = Task(executorPreference: clock.executor) { [control] in
            log.add("waits")
            try await control.waitWhilePaused()
            log.add("resumed")
        }
        await clock.run()
        // Observers are called before waiting requests resume.
        var observation: PauseControl.Observation? = control.observe { [weak control] in
            if control?.isPaused == false { control?.pause() }
        }
        control.resume()
        await clock.run()
        #expect(control.isPaused && log.entries == ["waits"])
        withExtendedLifetime(observation) {}
        observation = nil
        control.resume()
        try await task.value
        #expect(log.entries == ["waits", "resumed"])
    }

    @Test func `an observer is called for each change until it is released`() {
        let log = Log()
        var observation: PauseControl.Observation? = control.observe { [weak control] in
            log.add("\(control?.isPaused ?? false)")
        }
        control.pause()
        control.pause()
        control.resume()
        #expect(log.entries == ["true", "false"])
        withExtendedLifetime(observation) {}
        observation = nil
        control.pause()
        #expect(log.entries.count == 2)
    }

    @Test(arguments: 0..<20) func `racing pauses, resumes and cancels leave no request waiting`(round: Int) async {
        let waiting = (0..<50).map { _ in Task { [control] in try? await control.waitWhilePaused() } }
        let racing = (0..<50).map { index in
            Task { [control] in if index % 2 == 0 { control.pause() } else { control.resume() } }
        }
        for (index, task) in waiting.enumerated() where index % 3 == round % 3 { task.cancel() }
        for task in racing { await task.value }
        control.resume()
        for task in waiting { await task.value }
        #expect(!control.isPaused)
    }

    // MARK: Calls

    @Test @MainActor func `a paused call holds its answer until it is resumed`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let log = Log()
        let users = Integrator(provider, clock: clock)
        let task = control.bind {
            users.prepareCall(1).onSuccess { log.add("\($0)") }.onCompletion { log.add("completed") }.call()
        }
        let request = try await provider.waitForRequest()
        control.pause()
        request.answer(7)
        try await request.waitUntilEnded()
        await clock.run()
        #expect(log.entries.isEmpty)
        control.resume()
        await task.finish()
        #expect(log.entries == ["7", "completed"])
    }

    @Test @MainActor func `a paused call holds values of a stream and errors before a retry`() async throws {
        let log = Log()
        let stream = ControlledStreamDataProvider<Int, Int>()
        let values = Integrator(stream, clock: clock)
        let task = control.bind { values.prepareCall(1).onSuccess { log.add("\($0)") }.call() }
        let feed = try await stream.waitForRequest()
        feed.send(1)
        try await log.contains("1")
        control.pause()
        feed.send(2)
        feed.finish()
        await clock.run()
        #expect(log.entries == ["1"])
        control.resume()
        #expect(try await task.value == 2)

        let provider = ControlledDataProvider<Int, Int>()
        let users = Integrator(provider, clock: clock)
        let retried = control.bind { users.prepareCall(1).retry(1).onRetry { _, _ in log.add("again") }.call() }
        let first = try await provider.waitForRequest()
        control.pause()
        first.fail(DataProviderError.noAnswer)
        try await first.waitUntilEnded()
        await clock.run()
        #expect(provider.requestCount == 1)
        control.resume()
        try await provider.waitForRequest().answer(3)
        #expect(try await retried.value == 3)
        #expect(log.entries == ["1", "2", "again"])
    }

    @Test @MainActor func `a paused call in a queue does not begin before it is resumed`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let log = Log()
        let users = Integrator(provider, executing: .queue, clock: clock)
        users.prepareCall(1).call().hold()
        func second() -> IntegrationTask<Int> {
            control.bind {
                users.prepareCall(2).onBeginning { log.add("began") }.onCancel { log.add("\($0)") }.call()
            }
        }
        let cancelled = second()
        let first = try await provider.waitForRequest()
        control.pause()
        first.answer(1)
        try await first.waitUntilEnded()
        await clock.run()
        #expect(log.entries.isEmpty && provider.requestCount == 1)
        cancelled.cancel()
        await cancelled.finish()
        #expect(log.entries == ["cancelled"])
        let goingOn = second()
        control.resume()
        try await provider.waitForRequest().answer(2)
        #expect(try await goingOn.value == 2 && log.entries == ["cancelled", "began"])
    }

    @Test @MainActor
    func `a call paused on its way to the handlers' actor does not begin or retry`() async throws {
        for _ in 0..<Volume.of(500, normally: 50) {
            let (log, control) = (Log(), PauseControl())
            let provider = ControlledDataProvider<Int, Int>()
            let users = Integrator(provider, executing: .queue, clock: clock)
            users.prepareCall(1).call(isolation: nil).hold()
            let waiting = control.bind {
                users.prepareCall(2).onBeginning { log.add("began") }.call(isolation: nil)
            }
            // Its turn comes, and this actor is busy until it is paused.
            try await provider.waitForRequest().answer(1)
            control.pause()
            await clock.run()
            #expect(log.entries.isEmpty && provider.requestCount == 1)
            control.resume()
            try await provider.waitForRequest().answer(2)
            #expect(try await waiting.value == 2)
        }
        let log = Log()
        let failing = ClosureDataProvider<Void, Int> { _ in
            guard log.entries == ["again"] else { throw DataProviderError.noAnswer }
            return 3
        }
        let retried = control.bind {
            Integrator(failing, clock: clock).prepareCall().retry(1).onRetry { _, _ in log.add("again") }.call(
                isolation: nil)
        }
        control.pause()
        await clock.run()
        #expect(log.entries.isEmpty)
        control.resume()
        #expect(try await retried.value == 3 && log.entries == ["again"])
    }

    @Test(arguments: [false, true]) @MainActor
    func `a paused request is not retried before it is resumed`(isInCall: Bool) async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let retried = provider.retry(1, delay: .constant(.seconds(1)), clock: clock)
        let task = control.bind {
            isInCall
                ? Integrator(provider, clock: clock).prepareCall(1).retry(1, delay: .constant(.seconds(1))).call()
                : Integrator(retried, clock: clock).prepareCall(1).call()
        }
        try await provider.waitForRequest().fail(DataProviderError.noAnswer)
        try await clock.waitForSleepers(1)
        control.pause()
        await clock.advance(by: .seconds(1))
        #expect(provider.requestCount == 1)
        control.resume()
        try await provider.waitForRequest().answer(3)
        #expect(try await task.value == 3)
    }

    @Test @MainActor func `a call paused on its way to the handlers' actor delivers nothing`() async throws {
        let log = Log()
        let users = Integrator(ClosureDataProvider<Void, Int> { _ in 7 }, clock: clock)
        // Its answer has to wait for this actor.
        let task = control.bind { users.prepareCall().onSuccess { log.add("\($0)") }.call(isolation: nil) }
        control.pause()
        await clock.run()
        #expect(log.entries.isEmpty)
        control.resume()
        await task.finish()
        #expect(log.entries == ["7"])
    }

    @Test(arguments: [false, true]) @MainActor
    func `a held answer is not given to a later call`(isRetried: Bool) async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let users = Integrator(provider, executing: .only(joining: true), clock: clock)
        let paused = control.bind {
            isRetried ? users.prepareCall(1).retry(1).call() : users.prepareCall(1).onSuccess { _ in }.call()
        }
        let first = try await provider.waitForRequest()
        control.pause()
        if isRetried { first.fail(DataProviderError.noAnswer) } else { first.answer(1) }
        try await first.waitUntilEnded()
        await clock.run()
        let other = users.prepareCall(2).onSuccess { _ in }.call()
        try await provider.waitForRequest().answer(2)
        #expect(try await other.value == 2)
        control.resume()
        if isRetried { try await provider.waitForRequest().answer(3) }
        #expect(try await paused.value == (isRetried ? 3 : 1))
    }

    @Test @MainActor
    func `handlers see the control of their call, not of the reporter or canceller`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        var (controls, isReported): ([PauseControl?], Bool) = ([], false)
        let prepared = Integrator(provider, clock: clock).prepareCall(1)
            .onProgress { _ in controls.append(.current) }
            .onCancel { _ in
                controls.append(.current)
                isReported = IntegrationProgress.current != nil
            }
        let task = control.bind { prepared.call() }
        let request = try await provider.waitForRequest()
        let other = PauseControl()
        other.bind { request.reporter?.report(fraction: 0.5) }
        await clock.run()
        try await other.bind {
            guard let reporter = request.reporter else { throw Trouble.first }
            await reporter.ambient { task.cancel() }
        }
        await task.finish()
        #expect(controls.count == 2 && controls.allSatisfy { $0 === control })
        #expect(!isReported)
    }

    @Test func `a cancel of a paused call is delivered at once`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let log = Log()
        let users = Integrator(provider, clock: clock)
        let task = control.bind {
            users.prepareCall(1).onSuccess { log.add("\($0)") }.onCancel { log.add("\($0)") }.call()
        }
        let request = try await provider.waitForRequest()
        control.pause()
        request.answer(7)
        try await request.waitUntilEnded()
        task.cancel()
        await task.finish()
        #expect(log.entries == ["cancelled"])
    }
}
