import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("Rule 5: a value is committed on the actor of the first handler that hears it", .inScope, .timeLimit(.ample))
struct Rule05CommitTests {
    private let log = Log()
    private let recorder = IntegrationRecorder<Int>()
    private let gone = Signal()

    // MARK: Before the commit

    @Test("A cancel before the turn of the first handler wins, though the provider has answered")
    func cancelBeforeTheTurn() async throws {
        let stage = Stage()
        let call = Integrator(Echo<Int>()).prepareCall(1)
        let task = stage.here { stage in call.onSuccess { [log] in log.add("success \($0)") } }
            .onCancel { [log] in log.add("cancel \($0)") }
            .onCompletion { [log] in log.add("completion") }
            .call()
        // The answer is on its way to its handler.
        try await stage.executor.waitForJobs()
        task.cancel()
        stage.executor.open()
        await task.finish()
        #expect(log.entries == ["cancel cancelled", "completion"])
        #expect(await task.outcome == .cancelled(.cancelled))
    }

    @Test("A cancel of the integrator before the turn wins")
    func integratorCancelBeforeTheTurn() async throws {
        let (stage, integrator) = (Stage(), Integrator(Echo<Int>()))
        let call = integrator.prepareCall(1)
        let task = stage.here { stage in call.onSuccess { [log] in log.add("success \($0)") } }.call()
        try await stage.executor.waitForJobs()
        integrator.cancel()
        stage.executor.open()
        await task.finish()
        #expect(log.entries == [])
        #expect(await task.outcome == .cancelled(.cancelled))
    }

    @Test("A supersession before the turn wins")
    func supersessionBeforeTheTurn() async throws {
        let (stage, integrator) = (Stage(), Integrator(Echo<Int>(), executing: .latest))
        let (older, newer) = (integrator.prepareCall(1), integrator.prepareCall(2))
        let task = stage.here { stage in older.onSuccess { [log] in log.add("success \($0)") } }.call()
        try await stage.executor.waitForJobs()
        let last = stage.here { stage in newer.onSuccess { [log] in log.add("success \($0)") } }.call()
        stage.executor.open()
        await task.finish()
        await last.finish()
        #expect(log.entries == ["success 2"])
        #expect(await task.outcome == .cancelled(.superseded))
    }

    @Test("A cancel before the turn keeps each value of a stream, and its error, from being heard")
    func streamBeforeTheTurn() async throws {
        let (stage, stream) = (Stage(), ControlledStreamDataProvider<Int, Int>())
        let call = Integrator(stream).prepareCall(1)
        let task = stage.here { stage in call.onSuccess { [log] in log.add("success \($0)") } }
            .onError { [log] in log.add("error \($0)") }
            .onCancel { [log] in log.add("cancel \($0)") }
            .call()
        let request = try await stream.waitForRequest()
        request.send(1)
        request.fail(Trouble.first)
        try await stage.executor.waitForJobs()
        task.cancel()
        stage.executor.open()
        await task.finish()
        #expect(log.entries == ["cancel cancelled"])
    }

    @Test("A cancel before the turn of an error wins as well")
    func errorBeforeTheTurn() async throws {
        let stage = Stage()
        let call = Integrator(Failing(Trouble.first)).prepareCall(1)
        let task = stage.here { stage in call.onError { [log] in log.add("error \($0)") } }
            .onCancel { [log] in log.add("cancel \($0)") }
            .call()
        try await stage.executor.waitForJobs()
        task.cancel()
        stage.executor.open()
        await task.finish()
        #expect(log.entries == ["cancel cancelled"])
        #expect(await task.outcome == .cancelled(.cancelled))
    }

    @Test("A cancel before the turn of a report keeps it from being heard")
    func progressBeforeTheTurn() async throws {
        let (stage, provider) = (Stage(), ControlledDataProvider<Int, Int>())
        let call = Integrator(provider).prepareCall(1)
        let task = stage.here { stage in call.onProgress { [log] in log.add("progress \($0.fraction)") } }
            .onCancel { [log] in log.add("cancel \($0)") }
            .call()
        try await provider.waitForRequest().reporter?.report(fraction: 0.5)
        try await stage.executor.waitForJobs()
        task.cancel()
        stage.executor.open()
        await task.finish()
        #expect(log.entries == ["cancel cancelled"])
    }

    @Test("A value of which nobody hears is committed on the actor of the completion")
    func committedOnTheCompletion() async throws {
        let stage = Stage()
        let call = Integrator(Echo<Int>()).prepareCall(1)
        let task = stage.here { stage in call.onCompletion { [log] in log.add("completion") } }.call()
        try await stage.executor.waitForJobs()
        task.cancel()
        stage.executor.open()
        await task.finish()
        #expect(await task.outcome == .cancelled(.cancelled))
        #expect(log.entries == ["completion"])
    }

    @Test("The commit is on the actor of the first handler, also if that is the integrator's")
    func committedOnTheIntegratorsHandler() async throws {
        let (stage, integrator) = (Stage(), Integrator(Echo<Int>()))
        _ = stage.here { stage in integrator.onSuccess { [log] in log.add("integrator \($0)") } }
        let task = integrator.prepareCall(1).onSuccess { [log] in log.add("call \($0)") }.call()
        try await stage.executor.waitForJobs()
        #expect(log.entries == [])
        task.cancel()
        stage.executor.open()
        await task.finish()
        #expect(log.entries == [])
        #expect(await task.outcome == .cancelled(.cancelled))
    }

    // MARK: After the commit

    @Test("A cancel inside onSuccess: all handlers of that value run, and the run is a success")
    @MainActor
    func cancelInsideSuccess() async {
        let integrator = Integrator(Echo<Int>())
        let task = integrator.prepareCall(1)
            .onSuccess { _ in integrator.cancel() }
            .onSuccess { [log] in log.add("second \($0)") }
            .recorded(in: log)
            .call()
        await task.finish()
        #expect(log.entries == ["begin", "second 1", "success 1", "completion"])
        #expect(await task.outcome == .success(1))
        task.cancel()
        #expect(await task.outcome == .success(1))
    }

    @Test("A cancel between two handlers of a value on two actors: both run, and the run is a success")
    func cancelBetweenHandlers() async throws {
        let (stage, integrator) = (Stage(), Integrator(Echo<Int>()))
        let first = integrator.prepareCall(1).onSuccess { [log] in log.add("first \($0)") }
        let task = stage.here { stage in first.onSuccess { [log] in log.add("second \($0)") } }
            .onCancel { [log] in log.add("cancel \($0)") }
            .onCompletion { [log] in log.add("completion") }
            .call()
        try await stage.executor.waitForJobs()
        #expect(log.entries == ["first 1"])
        #expect(await task.outcome == .success(1))
        task.cancel()
        integrator.cancel()
        stage.executor.open()
        await task.finish()
        #expect(log.entries == ["first 1", "second 1", "completion"])
    }

    @Test("A newer call inside onSuccess does not supersede the one that has committed")
    @MainActor
    func supersessionInsideSuccess() async {
        let integrator = Integrator(Echo<Int>(), executing: .latest)
        var newer: IntegrationTask<Int>?
        let task = integrator.prepareCall(1)
            .onSuccess { _ in newer = integrator.prepareCall(2).recorded(in: log, as: "newer").call() }
            .recorded(in: log, as: "older")
            .call()
        await task.finish()
        await newer?.finish()
        #expect(log.entries(of: "older") == ["begin", "success 1", "completion"])
        #expect(log.entries(of: "newer") == ["begin", "success 2", "completion"])
    }

    @Test("A cancel inside onSuccess of a stream: the handlers of that value run, and no further value is heard")
    @MainActor
    func cancelInsideSuccessOfAStream() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>(reactsToCancel: false)
        let integrator = Integrator(stream)
        let task = recorder.call(
            integrator.prepareCall(1).onSuccess { if $0 == 2 { integrator.cancel() } }.opening(gone))
        let request = try await stream.waitForRequest()
        for value in 1...3 { request.send(value) }
        request.finish()
        try await gone.wait()
        recorder.expectRecorded(.began, .succeeded(1), .succeeded(2), .cancelled(.cancelled), .completed)
        #expect(await task.outcome == .cancelled(.cancelled))
    }

    @Test("A cancel inside onError: the run is a failure")
    @MainActor
    func cancelInsideError() async {
        let integrator = Integrator(Failing(Trouble.first))
        let task = recorder.call(integrator.prepareCall(1).onError { _ in integrator.cancel() })
        await task.finish()
        recorder.expectRecorded(.began, .failed(Trouble.first), .completed)
        #expect(await task.outcome.error as? Trouble == .first)
    }
}
