import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("The task of a call", .inScope, .timeLimit(.ample))
struct IntegrationTaskTests {
    private let provider = ControlledDataProvider<Int, Int>()
    private let log = Log()
    private let recorder = IntegrationRecorder<Int>()

    // MARK: value and outcome

    @Test("value is what the provider answered")
    func value() async throws {
        let task = Integrator(provider).prepareCall(1).call()
        try await provider.waitForRequest().answer(7)
        #expect(try await task.value == 7)
        #expect(try await task.value == 7)
        #expect(await task.outcome == .success(7))
    }

    @Test("value throws the provider's error")
    func failure() async {
        let task = Integrator(Failing(Trouble.first)).prepareCall(1).call()
        await #expect(throws: Trouble.first) { try await task.value }
        #expect(await task.outcome.error as? Trouble == .first)
    }

    @Test("A model that can't be made fails the call, and its error is inside")
    func model() async {
        let task = Integrator(Echo<Int>(), model: Picky.self).prepareCall(-1).call()
        let error = await task.outcome.error
        guard case IntegrationError.model(let inner)? = error else {
            Issue.record("ended otherwise: \(String(describing: error))")
            return
        }
        #expect(inner as? Trouble == .numbered(-1))
    }

    private struct Picky: DataModel {
        init(from source: Int) throws {
            if source < 0 { throw Trouble.numbered(source) }
        }
    }

    @Test("value throws IntegrationError.cancelled after task.cancel()")
    func cancelled() async throws {
        let task = Integrator(provider).prepareCall(1).call()
        task.cancel()
        try await expectReason(.cancelled) { try await task.value }
        #expect(await task.outcome == .cancelled(.cancelled))
    }

    @Test("value and request throw the reason with which the call ended", arguments: WayToEnd.allCases)
    func reasons(way: WayToEnd) async throws {
        guard let task = try await way.run({ $0 }) else { return }
        switch await task.outcome {
        case .success(let value): #expect(try await task.value == value)
        case .failure: await #expect(throws: (any Error).self) { try await task.value }
        case .cancelled(let reason): try await expectReason(reason) { try await task.value }
        }
    }

    @Test("Everybody who awaits is told")
    func manyWaiters() async throws {
        let task = Integrator(provider).prepareCall(1).call()
        let waiting = (0..<20).map { index in
            Task { index % 2 == 0 ? try? await task.value : await task.outcome.value }
        }
        try await provider.waitForRequest().answer(3)
        for waiter in waiting { #expect(await waiter.value == 3) }
    }

    // MARK: Cancelling the awaiting task

    @Test("value throws CancellationError if the awaiting task is cancelled, and the run goes on")
    func awaitingTaskCancelled() async throws {
        let task = Integrator(provider).prepareCall(1).call()
        let request = try await provider.waitForRequest()
        let awaiting = Task { try await task.value }
        awaiting.cancel()
        await #expect(throws: CancellationError.self) { try await awaiting.value }
        #expect(!request.isCancelled)
        request.answer(5)
        #expect(try await task.value == 5)
    }

    @Test("value throws CancellationError to a cancelled task, though the call was cancelled as well")
    func bothCancelled() async throws {
        let task = Integrator(provider).prepareCall(1).call()
        task.cancel()
        await task.finish()
        let awaiting = Task {
            try? await Signal().wait()
            return try await task.value
        }
        awaiting.cancel()
        await #expect(throws: CancellationError.self) { try await awaiting.value }
    }

    @Test("A value that is there isn't for one who was cancelled before", arguments: [false, true])
    func cancelledAfterEnd(isRequest: Bool) async throws {
        let integrator = Integrator(ClosureDataProvider<Int, Int> { $0 })
        let task = integrator.prepareCall(1).call()
        #expect(try await task.value == 1)
        let awaiting = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return isRequest ? try await integrator.request(1) : try await task.value
        }
        await #expect(throws: CancellationError.self) { try await awaiting.value }
        #expect(await task.outcome == .success(1))
    }

    @Test("A value isn't for one who was cancelled while it was made in the same turn", arguments: [false, true])
    func cancelledInTurn(isOnMain: Bool) async throws {
        let awaiting = Observed<Task<Int, any Error>?>(nil)
        let isKept = Signal()
        let integrator = Integrator(
            ClosureDataProvider<Int, Int> { number in
                awaiting.value?.cancel()
                return number
            })
        let task =
            isOnMain
            ? Task { @MainActor in
                try await isKept.wait()
                return try await integrator.request(1)
            }
            : Task {
                try await isKept.wait()
                return try await integrator.request(1)
            }
        awaiting.change { $0 = task }
        isKept.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        awaiting.change { $0 = nil }
    }

    @Test("outcome and finish return at once when the awaiting task is cancelled, and the call continues")
    func awaitingIsCancelled() async throws {
        let task = Integrator(provider).prepareCall(1).call()
        let request = try await provider.waitForRequest()
        let outcome = Task { await task.outcome }
        let finish = Task { await task.finish() }
        outcome.cancel()
        finish.cancel()

        #expect(await outcome.value == .cancelled(.cancelled))
        await finish.value

        #expect(!request.isCancelled)
        request.answer(5)
        #expect(await task.outcome == .success(5))
    }

    @Test("request throws CancellationError if and only if the awaiting task was cancelled", arguments: [false, true])
    func requestCancelled(isDeaf: Bool) async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: !isDeaf)
        let integrator = Integrator(provider)
        let awaiting = Task { try await integrator.request(1) }
        let request = try await provider.waitForRequest()
        awaiting.cancel()
        await #expect(throws: CancellationError.self) { try await awaiting.value }
        try await request.waitUntilCancelled()
        request.answer(1)
    }

    @Test("request throws IntegrationError.cancelled if the integrator is cancelled")
    func requestOfACancelledIntegrator() async throws {
        let integrator = Integrator(provider)
        let awaiting = Task { try await integrator.request(1) }
        _ = try await provider.waitForRequest()
        integrator.cancel()
        try await expectReason(.cancelled) { try await awaiting.value }
    }

    @Test("request throws IntegrationError.cancelled if the provider cancels itself")
    func requestCancelledFromBelow() async throws {
        for error in [CancellationError(), IntegrationError.cancelled(.cancelled)] as [any Error] {
            try await expectReason(.cancelled) { try await Integrator(Failing(error)).request(1) }
        }
    }

    @Test("request under .only throws IntegrationError.cancelled(.ignored)")
    func requestIgnored() async throws {
        let integrator = Integrator(provider, executing: .only)
        let first = integrator.prepareCall(1).call()
        try await expectReason(.ignored) { try await integrator.request(2) }
        first.cancel()
    }

    @Test("request of a task that is already cancelled makes no call")
    func requestOfACancelledTask() async {
        let integrator = Integrator(provider)
        let awaiting = Task {
            try? await Signal().wait()
            return try await integrator.request(1)
        }
        awaiting.cancel()
        await #expect(throws: CancellationError.self) { try await awaiting.value }
        #expect(provider.requestCount == 0)
    }

    private func expectReason(
        _ reason: CancelReason, sourceLocation: SourceLocation = #_sourceLocation,
        of body: () async throws -> some Sendable
    ) async throws {
        do {
            _ = try await body()
            Issue.record("did not throw", sourceLocation: sourceLocation)
        } catch {
            guard case IntegrationError.cancelled(reason) = error else {
                Issue.record("threw \(error)", sourceLocation: sourceLocation)
                return
            }
        }
    }

    // MARK: finish and cancel

    @Test("value is there before the handlers have run, finish waits for them")
    func finishWaits() async throws {
        let stage = Stage()
        let call = Integrator(Echo<Int>()).prepareCall(1).onSuccess { _ in }
        let task = stage.here { stage in call.onCompletion { [log] in log.add("completion") } }.call()
        try await stage.executor.waitForJobs()
        #expect(try await task.value == 1)
        let finish: @Sendable () async -> Void = { [log] in
            await task.finish()
            log.add("finished")
        }
        // Where a task can start at once, it waits by the time the handlers may run.
        let finishing =
            if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                Task.immediate { await finish() }
            } else {
                Task { await finish() }
            }
        stage.executor.open()
        await finishing.value
        #expect(log.entries == ["completion", "finished"])
    }

    @Test("finish waits for everything that is chained")
    func finishWaitsForTheChain() async throws {
        let third = Integrator(Echo<Int>()).prepareCall(3).recorded(in: log)
        let second = Integrator(provider).prepareCall(2).nextSuccess(third)
        let task = Integrator(Echo<Int>()).prepareCall(1).nextSuccess(second).call()
        try await provider.waitForRequest().answer(2)
        await task.finish()
        #expect(log.entries == ["begin", "success 3", "completion"])
    }

    @Test("finish returns for a call that never started")
    func finishOfAnUnstartedCall() async {
        let integrator = Integrator(provider, executing: .only)
        let first = integrator.prepareCall(1).call()
        await integrator.prepareCall(2).call().finish()
        first.cancel()
        await first.finish()
    }

    @Test("A call value makes a new run each time")
    func twoRuns() async {
        let call = Integrator(Echo<Int>()).prepareCall(1).recorded(in: log)
        for _ in 0..<2 { await call.call().finish() }
        let once = ["begin", "success 1", "completion"]
        #expect(log.entries == once + once)
    }

    @Test("Adding to a call leaves the call it was added to as it was")
    func values() async {
        let plain = Integrator(Echo<Int>()).prepareCall(1)
        let first = plain.onSuccess { [log] _ in log.add("first") }
        let second = plain.onSuccess { [log] _ in log.add("second") }
        await plain.call().finish()
        #expect(log.entries == [])
        await first.call().finish()
        await second.call().finish()
        #expect(log.entries == ["first", "second"])
    }

    @Test("Dropping the task neither cancels the run nor lets it go")
    func dropped() async throws {
        let integrator = Integrator(provider)
        // Not recorded as a call: of such a one the recorder holds the integrator.
        recorder.record(integrator)
        integrator.prepareCall(1).recorded(in: log).call()
        try await provider.waitForRequest().answer(1)
        try await recorder.waitForEvents(.began, .succeeded(1), .completed)
        try await log.contains("completion")
        #expect(log.entries == ["begin", "success 1", "completion"])
        withExtendedLifetime(integrator) {}
    }

    @Test("callAll gives the outcomes in the order of the calls, whatever the order of the ends")
    func callAll() async throws {
        let integrator = Integrator(provider)
        let calls = [1, 2, 3].map { integrator.prepareCall($0) }
        async let outcomes = calls.callAll()
        var requests: [Int: ControlledRequest<Int, Int>] = [:]
        for _ in calls {
            let request = try await provider.waitForRequest()
            requests[request.input] = request
        }
        requests[3]?.answer(30)
        requests[2]?.fail(Trouble.second)
        requests[1]?.answer(10)
        let ends = await outcomes
        #expect(ends[0] == .success(10))
        #expect(ends[1].error as? Trouble == .second)
        #expect(ends[2] == .success(30))
    }

    @Test("callAll asks nobody in a task that is cancelled already")
    func callAllInACancelledTask() async {
        let calls = (0..<2).map { Integrator(provider).prepareCall($0).recorded(in: log) }
        let all = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await calls.callAll()
        }
        #expect(await all.value == [.cancelled(.cancelled), .cancelled(.cancelled)])
        #expect(log.entries == ["cancel cancelled", "cancel cancelled"])
        #expect(provider.requestCount == 0)
    }

    @Test("callAll asks the providers on the caller's actor")
    @MainActor
    func callAllHere() async {
        #expect(await [Integrator(MainActorProbe()).prepareCall(1)].callAll() == [.success(true)])
    }

    @Test("callAll is under the rules of the integrators, and waits for the chains")
    func callAllUnderRules() async {
        let integrator = Integrator(provider, executing: .only)
        let running = integrator.prepareCall(0).call()
        let chained = Integrator(Echo<Int>()).prepareCall(3).recorded(in: log)
        let calls = [integrator.prepareCall(1), Integrator(Echo<Int>()).prepareCall(2).nextSuccess(chained)]
        #expect(await calls.callAll() == [.cancelled(.ignored), .success(2)])
        #expect(log.entries == ["begin", "success 3", "completion"])
        running.cancel()
    }

    @Test("Cancelling the task that awaits callAll cancels all the calls")
    func callAllCancelled() async throws {
        let integrator = Integrator(provider)
        let calls = [1, 2].map { integrator.prepareCall($0) }
        let all = Task { await calls.callAll() }
        for _ in calls { _ = try await provider.waitForRequest() }
        all.cancel()
        #expect(await all.value == [.cancelled(.cancelled), .cancelled(.cancelled)])
    }

    @Test("callAll of no calls gives no outcomes")
    func callNone() async {
        #expect(await [IntegrationCall<Int>]().callAll() == [])
    }
}
