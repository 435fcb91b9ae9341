import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite(.inScope, .timeLimit(.ample))
struct IntegrationTaskTests {
    private let provider = ControlledDataProvider<Int, Int>()
    private let log = Log()

    // MARK: Outcome

    @Test(arguments: WayToEnd.allCases)
    func `value returns or throws the outcome`(way: WayToEnd) async throws {
        guard let task = try await way.run({ $0 }) else { return }
        switch await task.outcome {
        case .success(let value): #expect(try await task.value == value)
        case .failure: await #expect(throws: (any Error).self) { try await task.value }
        case .cancelled(let reason): #expect(await thrownReason { try await task.value } == reason)
        }
    }

    @Test func `every awaiting task receives the value`() async throws {
        let task = Integrator(provider).prepareCall(1).call()
        let waiting = (0..<20).map { index in
            Task { index % 2 == 0 ? try? await task.value : await task.outcome.value }
        }
        try await provider.waitForRequest().answer(3)
        var values: [Int?] = []
        for waiter in waiting { values.append(await waiter.value) }

        #expect(values == Array(repeating: 3, count: 20))
    }

    @Test func `fetch delivers one result to its handler for every end`() async throws {
        func entry(_ name: String) -> @Sendable (Result<Int, any Error>) -> Void {
            { [log] result in
                switch result {
                case .success(let value): log.add("\(name): \(value)")
                case .failure(let error): log.add("\(name): \(error)")
                }
            }
        }
        let integrator = Integrator(provider, executing: .only)

        Integrator(Echo<Int>()).fetch(1, completion: entry("value"))
        Integrator(Failing(Trouble.first)).fetch(1, completion: entry("error"))
        let task = integrator.fetch(1, completion: entry("cancelled"))
        integrator.fetch(2, completion: entry("ignored"))
        task.cancel()
        try await log.count(reaches: 4)

        #expect(
            log.entries.sorted() == [
                "cancelled: The call was cancelled.", "error: \(Trouble.first)",
                "ignored: The call was ignored: its executing type rejected it.", "value: 1",
            ])
    }

    @Test func `value returns before the last handler and finish() after it`() async throws {
        let stage = Stage()
        let call = Integrator(Echo<Int>()).prepareCall(1).onSuccess { _ in }
        let task = stage.here { stage in call.onCompletion { [log] in log.add("completion") } }.call()
        try await stage.executor.waitForJobs()
        #expect(try await task.value == 1)
        let finish: @Sendable () async -> Void = { [log] in
            await task.finish()
            log.add("finished")
        }
        // Where a task can start at once, it waits before the handler runs.
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

    @Test func `finish() waits for the whole chain`() async throws {
        let third = Integrator(Echo<Int>()).prepareCall(3).recorded(in: log)
        let second = Integrator(provider).prepareCall(2).nextSuccess(third)
        let task = Integrator(Echo<Int>()).prepareCall(1).nextSuccess(second).call()
        try await provider.waitForRequest().answer(2)
        await task.finish()

        #expect(log.entries == ["begin", "success 3", "completion"])
    }

    // MARK: Cancelling the awaiting task

    /// The stage of a call when the task that awaits it is cancelled.
    enum AwaitedStage: CaseIterable { case waiting, running, chained }

    @Test(arguments: AwaitedStage.allCases, CallerPlace.allCases)
    func `awaiting ends at once when its task is cancelled, and the call continues`(
        stage: AwaitedStage, place: CallerPlace
    ) async throws {
        try await place.run { isolation in
            let integrator = Integrator(provider, executing: .queue)
            let first = integrator.prepareCall(0).call(isolation: isolation)
            let request = try await provider.waitForRequest()
            let task =
                switch stage {
                case .running: first
                case .waiting: integrator.prepareCall(1).call(isolation: isolation)
                case .chained:
                    Integrator(Echo<Int>()).prepareCall(1).nextSuccess(Integrator(provider).prepareCall(2))
                        .call(isolation: isolation)
                }
            let chained = stage == .chained ? try await provider.waitForRequest() : nil
            let (value, outcome, finish) = (
                Task { try await task.value }, Task { await task.outcome }, Task { await task.finish() }
            )
            for cancel in [value.cancel, outcome.cancel, finish.cancel] { cancel() }

            await finish.value
            // The outcome of a call whose chain runs is decided.
            if stage != .chained {
                await #expect(throws: CancellationError.self) { try await value.value }
                #expect(await outcome.value == .cancelled(.cancelled))
            }
            #expect(!request.isCancelled && chained?.isCancelled != true)

            request.answer(0)
            chained?.answer(2)
            if stage == .waiting { try await provider.waitForRequest().answer(1) }
            #expect(await task.outcome == .success(stage == .running ? 0 : 1))
            await task.finish()
            await first.finish()
        }
    }

    @Test(arguments: [false, true])
    func `awaiting an ended call in a cancelled task throws CancellationError`(isCancelled: Bool) async throws {
        let task = Integrator(isCancelled ? AnyDataProvider(provider) : AnyDataProvider(Echo<Int>())).prepareCall(1)
            .call()
        if isCancelled { task.cancel() }
        await task.finish()

        await #expect(throws: CancellationError.self) { try await cancelledTask { try await task.value }.value }
    }

    @Test(arguments: [false, true])
    func `cancelling the task of a request cancels the call`(isDeaf: Bool) async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: !isDeaf)
        let integrator = Integrator(provider)
        let awaiting = Task { try await integrator.request(1) }
        let request = try await provider.waitForRequest()
        awaiting.cancel()

        await #expect(throws: CancellationError.self) { try await awaiting.value }
        try await request.waitUntilCancelled()
        request.answer(1)
    }

    @Test func `a request in a cancelled task makes no call`() async {
        let awaiting = cancelledTask { [provider] in try await Integrator(provider).request(1) }

        await #expect(throws: CancellationError.self) { try await awaiting.value }
        #expect(provider.requestCount == 0)
    }

    @Test func `a request that is cancelled otherwise throws the reason`() async throws {
        let integrator = Integrator(provider, executing: .only)
        let awaiting = Task { try await integrator.request(1) }
        _ = try await provider.waitForRequest()
        #expect(await thrownReason { try await integrator.request(2) } == .ignored)
        integrator.cancel()

        #expect(await thrownReason { try await awaiting.value } == .cancelled)
        #expect(await thrownReason { try await Integrator(Failing(CancellationError())).request(1) } == .cancelled)
    }

    // MARK: Prepared calls

    @Test func `a prepared call runs again, unchanged by handlers of a copy`() async {
        let call = Integrator(Echo<Int>()).prepareCall(1).onSuccess { [log] in log.add("\($0)") }
        let copy = call.onSuccess { [log] _ in log.add("copy") }
        for call in [call, call, copy] { await call.call().finish() }

        #expect(log.entries == ["1", "1", "1", "copy"])
    }

    // MARK: callAll

    @Test func `callAll returns the outcomes in the order of the calls`() async throws {
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
        #expect(ends.map(\.value) == [10, nil, 30])
        #expect(ends[1].error as? Trouble == .second)
    }

    @Test func `callAll obeys the executing types and waits for chains`() async {
        let integrator = Integrator(provider, executing: .only)
        let running = integrator.prepareCall(0).call()
        let chained = Integrator(Echo<Int>()).prepareCall(3).recorded(in: log)
        let calls = [integrator.prepareCall(1), Integrator(Echo<Int>()).prepareCall(2).nextSuccess(chained)]

        #expect(await calls.callAll() == [.cancelled(.ignored), .success(2)])
        #expect(log.entries == ["begin", "success 3", "completion"])
        running.cancel()
    }

    @Test(arguments: [false, true])
    func `callAll in a cancelled task cancels its calls`(isBefore: Bool) async throws {
        let calls = [1, 2].map { Integrator(provider).prepareCall($0) }
        let all = Task {
            if isBefore { withUnsafeCurrentTask { $0?.cancel() } }
            return await calls.callAll()
        }
        if !isBefore {
            for _ in calls { _ = try await provider.waitForRequest() }
            all.cancel()
        }

        #expect(await all.value == [.cancelled(.cancelled), .cancelled(.cancelled)])
        #expect(provider.requestCount == (isBefore ? 0 : 2))
    }

    @Test @MainActor func `callAll asks the providers on the caller's actor`() async {
        #expect(await [Integrator(MainActorProbe()).prepareCall(1)].callAll() == [.success(true)])
        #expect(await [IntegrationCall<Int>]().callAll() == [])
    }
}
