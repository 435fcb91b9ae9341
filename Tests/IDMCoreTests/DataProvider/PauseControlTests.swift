import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite(.timeLimit(.ample))
@MainActor
struct PauseControlTests {
    private let control = PauseControl()
    private let log = Log()
    private let provider = ControlledDataProvider<Int, Int>()
    /// Not advanced by most tests: `run()` waits until all started work is at rest.
    private let clock = ManualClock()

    @Test func `a provider finds the control of its caller only, and passes checkpoints without one`() async throws {
        let provider = ClosureDataProvider<Void, Bool> { [control] _ in
            try await PauseControl.checkpoint()
            return PauseControl.current === control
        }
        let answers = [try await control.bind { try await provider.request() }, try await provider.request()]

        #expect(answers == [true, false] && PauseControl.current == nil)
    }

    @Test func `a cancel before or during the wait ends it`() async throws {
        control.pause()
        let task = Task(executorPreference: clock.executor) { [control] in try await control.waitWhilePaused() }
        await clock.run()
        task.cancel()

        await #expect(throws: CancellationError.self) { try await task.value }
        let cancelled = cancelledTask { [control] in try await control.waitWhilePaused() }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }

    @Test func `a control paused again at once keeps requests waiting`() async throws {
        control.pause()
        let task = Task(executorPreference: clock.executor) { [control, log] in
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
        var observation: PauseControl.Observation? = control.observe { [weak control, log] in
            log.add("\(control?.isPaused ?? false)")
        }
        control.pause()
        control.pause()
        control.resume()
        withExtendedLifetime(observation) {}
        observation = nil
        control.pause()

        #expect(log.entries == ["true", "false"])
    }

    @Test(arguments: 0..<20)
    nonisolated func `racing pauses, resumes and cancels leave no request waiting`(round: Int) async {
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

    /// The event that a pause holds back.
    enum Held: CaseIterable { case value, endWithoutHandlers, streamValue, retry }

    @Test(arguments: Held.allCases)
    func `a paused call delivers nothing until it is resumed`(held: Held) async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let integrator =
            held == .streamValue ? Integrator(stream, clock: clock) : Integrator(provider, clock: clock)
        let plain = integrator.prepareCall(1)
        let call = held == .endWithoutHandlers ? plain : plain.recorded(in: log)
        let task = control.bind { (held == .retry ? call.retry(1) : call).call() }
        let finishing = Task(executorPreference: clock.executor) { [log] in
            await task.finish()
            log.add("finished")
        }
        if held == .streamValue {
            let request = try await stream.waitForRequest()
            request.send(1)
            try await log.contains("success 1")
            control.pause()
            request.send(2)
            request.finish()
        } else {
            let request = try await provider.waitForRequest()
            control.pause()
            if held == .retry { request.fail(Trouble.first) } else { request.answer(2) }
            try await request.waitUntilEnded()
        }
        await clock.run()
        let before = log.entries
        control.resume()
        if held == .retry { try await provider.waitForRequest().answer(2) }
        await finishing.value

        let expected: [Held: (before: [String], after: [String])] = [
            .value: (["begin"], ["success 2", "completion"]), .endWithoutHandlers: ([], []),
            .streamValue: (["begin", "success 1"], ["success 2", "completion"]),
            .retry: (["begin"], ["retry 1 after first", "success 2", "completion"]),
        ]
        let after = Array(log.entries.dropFirst(before.count).dropLast())
        #expect(before == expected[held]?.before && after == expected[held]?.after)
        #expect(log.entries.last == "finished")
    }

    @Test(arguments: [false, true])
    func `a paused call in a queue begins when it is resumed`(isOnActor: Bool) async throws {
        let integrator = Integrator(provider, executing: .queue, clock: clock)
        integrator.prepareCall(1).call(isolation: nil).hold()
        let call = integrator.prepareCall(2).onBeginning { [log] in log.add("began") }
        let waiting = control.bind { isOnActor ? call.call() : call.call(isolation: nil) }

        // The turn of the call comes, and this actor is busy until the call is paused.
        try await provider.waitForRequest().answer(1)
        control.pause()
        await clock.run()
        #expect(log.entries.isEmpty && provider.requestCount == 1)
        control.resume()
        try await provider.waitForRequest().answer(2)

        #expect(try await waiting.value == 2 && log.entries == ["began"])
    }

    @Test func `a call paused on its way to the handlers' actor delivers nothing`() async throws {
        let integrator = Integrator(Echo<Int>(), clock: clock)
        let call = integrator.prepareCall(7).onSuccess { [log] in log.add("\($0)") }
        // The answer has to wait for this actor.
        let task = control.bind { call.call(isolation: nil) }
        control.pause()
        await clock.run()
        #expect(log.entries.isEmpty)
        control.resume()
        await task.finish()

        #expect(log.entries == ["7"])
    }

    @Test(arguments: [false, true])
    func `a paused request is not retried before it is resumed`(isInCall: Bool) async throws {
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

    @Test(arguments: [false, true])
    func `a later call does not join a request whose answer is held`(isRetried: Bool) async throws {
        let integrator = Integrator(provider, executing: .only(joining: true), clock: clock)
        let call = integrator.prepareCall(1)
        let paused = control.bind { (isRetried ? call.retry(1) : call.onSuccess { _ in }).call() }
        let first = try await provider.waitForRequest()
        control.pause()
        if isRetried { first.fail(DataProviderError.noAnswer) } else { first.answer(1) }
        try await first.waitUntilEnded()
        await clock.run()
        let later = integrator.prepareCall(2).onSuccess { _ in }.call()
        try await provider.waitForRequest().answer(2)
        #expect(try await later.value == 2)
        control.resume()
        if isRetried { try await provider.waitForRequest().answer(3) }

        #expect(try await paused.value == (isRetried ? 3 : 1))
    }

    @Test func `handlers see the control of their call, not of the reporter or canceller`() async throws {
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

        #expect(controls.count == 2 && controls.allSatisfy { $0 === control } && !isReported)
    }

    @Test func `a cancel of a paused call is delivered at once`() async throws {
        let task = control.bind { Integrator(provider, clock: clock).prepareCall(1).recorded(in: log).call() }
        let request = try await provider.waitForRequest()
        control.pause()
        request.answer(7)
        try await request.waitUntilEnded()
        task.cancel()
        await task.finish()

        #expect(log.entries == ["begin", "cancel cancelled", "completion"])
    }
}
