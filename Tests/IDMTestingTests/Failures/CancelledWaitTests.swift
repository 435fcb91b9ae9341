import IDMCore
@testable import IDMTesting
import TestSupport
import Testing

/// What is told of a test that waits for what doesn't come.
@Suite("A wait for what doesn't come", .fewAtOnce, .timeLimit(.ample))
struct CancelledWaitTests {
    typealias Wait = @Sendable () async throws -> Void

    /// Each wait, made where nothing has come, and what is told of it.
    static let waits: [(words: String, line: Int, wait: Wait)] = [
        (
            "Expected 1 request, and none came", #line + 1,
            { _ = try await ControlledDataProvider<Int, Int>().nextRequest() }
        ),
        (
            "Expected 1 request, and none came", #line + 1,
            { _ = try await ControlledStreamDataProvider<Int, Int>().nextRequest() }
        ),
        (
            "Expected 1 request, and none came", #line + 1,
            { _ = try await ControlledCallbackDataProvider<Int, Int>().nextRequest() }
        ),
        ("Expected 2 requests, and none came", #line, { try await SpyDataProvider(Echo<Int>()).requests(2) }),
        (
            "Expected 2 requests to end, and 1 did", #line + 4,
            {
                let spy = SpyDataProvider(Echo<Int>())
                _ = try await spy.request(1)
                try await spy.ended(2)
            }
        ),
        ("Expected 2 sleepers, and none came", #line, { try await ManualClock().sleepers(2) }),
        ("Expected 1 to wait at the gate, and none did", #line, { try await TestGate().waiting(1) }),
    ]

    /// Starts something that is to be cancelled: before it can begin, or when it waits.
    private func start<R: Sendable>(
        waiting isToWait: Bool = true, _ body: @escaping @Sendable () async throws -> R
    ) async -> Task<R, any Error> {
        let clock = ManualClock()
        let isReady = Signal()
        let task = Task(executorPreference: clock.executor) {
            await isReady.waitDeaf()
            return try await body()
        }
        if !isToWait { task.cancel() }
        isReady.open()
        await clock.run()
        task.cancel()
        return task
    }

    @Test(
        "says what is missing if the scope is cancelled, at the line of the wait", arguments: waits.indices,
        [true, false])
    func scope(index: Int, waiting: Bool) async throws {
        let (words, line, wait) = Self.waits[index]
        let failures = Watched<[TestFailure]>([])
        let test = await start(waiting: waiting) {
            try await TestScope.run(reportingTo: { failure in failures.change { $0.append(failure) } }) {
                try await wait()
            }
        }
        await #expect(throws: CancellationError.self) { try await test.value }
        #expect(failures.value.map(\.summary) == ["\(line): \(words) until the test was cancelled."])
    }

    @Test("says it in the inmost scope of the test, wherever what it waits for was made", arguments: [true, false])
    func madeElsewhere(isOutside: Bool) async throws {
        let outside = ControlledDataProvider<Int, Int>()
        let failures = Watched<[TestFailure]>([])
        let line = #line + 5
        let outer = try await TestScope.failures {
            let provider = isOutside ? outside : ControlledDataProvider<Int, Int>()
            let test = await start {
                try await TestScope.run(reportingTo: { failure in failures.change { $0.append(failure) } }) {
                    _ = try await provider.nextRequest()
                }
            }
            await #expect(throws: CancellationError.self) { try await test.value }
        }
        #expect(
            failures.value.map(\.summary) == [
                "\(line): Expected 1 request, and none came until the test was cancelled."
            ])
        #expect(outer.isEmpty)
    }

    typealias Waiting = Task<ControlledRequest<Int, Int>, any Error>

    /// Starts a wait for a request, and returns when it waits.
    private func waiting(
        for provider: ControlledDataProvider<Int, Int>, detached isDetached: Bool = false
    ) async -> Waiting {
        let clock = ManualClock()
        let wait = { @Sendable in try await provider.nextRequest() }
        let task =
            isDetached
            ? Task.detached(executorPreference: clock.executor, operation: wait)
            : Task(executorPreference: clock.executor, operation: wait)
        await clock.run()
        return task
    }

    /// What is told of a wait that is cancelled first, and then its scope.
    private func told(
        cancelScope: @escaping @Sendable () -> Void = { withUnsafeCurrentTask { $0?.cancel() } },
        ofWait begin: @escaping @Sendable () async throws -> Waiting
    ) async throws -> [String] {
        let test = Task {
            try await TestScope.failures {
                let waiting = try await begin()
                waiting.cancel()
                await #expect(throws: CancellationError.self) { try await waiting.value }
                cancelScope()
            }
        }
        return try await test.value.map(\.message)
    }

    private let words = ["Expected 1 request, and none came until the test was cancelled."]

    @Test("says it in the scope around, if the inmost one has ended")
    func outlived() async throws {
        let outside = ControlledDataProvider<Int, Int>()
        #expect(try await told { try await TestScope.run { await waiting(for: outside) } } == words)
    }

    @Test("says it in the scope of what it waits for, or in one around, if the task that waits knows of none")
    func detached() async throws {
        let inScope = try await told {
            await waiting(for: ControlledDataProvider<Int, Int>(), detached: true)
        }
        #expect(inScope == words)
        let around = try await told {
            let provider = try await TestScope.run { ControlledDataProvider<Int, Int>() }
            return await waiting(for: provider, detached: true)
        }
        #expect(around == words)
    }

    @Test("says it also if the scope is cancelled only when what is left over has been looked at")
    func cancelledLast() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let found = try await told {
            // Asked for leaks, which is the last that is done.
            FailureLedger.current.atEnd(.leak) {
                withUnsafeCurrentTask { $0?.cancel() }
                return []
            }
        } ofWait: {
            await waiting(for: provider)
        }
        #expect(found == words)
    }

    @Test("says it also of a wait that is cancelled when what is left over has been looked at, whoever is told")
    func afterTheLook() async throws {
        let place = SourcePlace(fileID: #fileID, filePath: #filePath, line: #line, column: #column)
        let missing = TestFailure("Expected more.", at: place)
        let isCancelled = Watched(true)
        let cancelLate = { @Sendable in
            let ledger = FailureLedger.current
            // Asked for leaks, which is the last that is done.
            ledger.atEnd(.leak) {
                if isCancelled.value { withUnsafeCurrentTask { $0?.cancel() } }
                #expect(ledger.miss([missing]))
                return []
            }
        }
        #expect(try await Task { try await TestScope.failures { cancelLate() } }.value == [missing])
        let alone = Task { try await TestScope.run { cancelLate() } }
        #expect(await #expect(throws: TestFailures.self) { try await alone.value }?.failures == [missing])
        let explored = Task { try await explore(seeds: [1]) { _ in cancelLate() } }
        let found = await #expect(throws: ExplorationFailure.self) { try await explored.value }
        #expect((found?.error as? TestFailures)?.failures == [missing])
        isCancelled.change { $0 = false }
        #expect(try await TestScope.failures { cancelLate() } == [])
    }

    @Test("is nobody's concern if the test itself cancels it", arguments: waits.indices)
    func purpose(index: Int) async throws {
        let failures = try await TestScope.failures(failingOnLeftovers: false) {
            let waiting = await start { try await Self.waits[index].wait() }
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
        #expect(failures.isEmpty)
    }

    @Test("says it of a request that neither is cancelled nor ends, and of sleepers that stay")
    func requests() async throws {
        let (failures, line) = (Watched<[TestFailure]>([]), Watched(0))
        let test = Task {
            try await TestScope.run(reportingTo: { failure in failures.change { $0.append(failure) } }) {
                let (provider, stream) = (ControlledDataProvider<Int, Int>(), ControlledStreamDataProvider<Int, Int>())
                let (callback, clock) = (ControlledCallbackDataProvider<Int, Int>(), ManualClock())
                let tasks =
                    [Integrator(provider).prepareCall(1).call(), Integrator(stream).prepareCall(1).call()]
                    + [Integrator(callback).prepareCall(1).call()]
                let sleeper = Task { try await clock.sleep(for: .seconds(1)) }
                let (request, values) = (try await provider.nextRequest(), try await stream.nextRequest())
                let called = try await callback.nextRequest()
                try await clock.sleepers(1)
                withUnsafeCurrentTask { $0?.cancel() }
                try? await request.cancelled()
                try? await values.cancelled()
                try? await called.cancelled()
                try? await request.ended()
                try? await values.ended()
                try? await clock.noSleepers()
                line.change { $0 = #line - 1 }
                for task in tasks { task.cancel() }
                sleeper.cancel()
            }
        }
        try await test.value
        let words =
            Array(repeating: "Expected a cancel of the request, and none came", count: 3)
            + Array(repeating: "Expected the end of the request, and none came", count: 2)
            + ["Expected no sleepers, and 1 sleeper stayed"]
        let first = line.value - words.count + 1
        #expect(
            failures.value.map(\.summary)
                == words.enumerated().map { "\(first + $0.offset): \($0.element) until the test was cancelled." })
    }

    @Test("says that no cancel has come also of a request that has ended, and nothing of one that was cancelled")
    func endedBefore() async throws {
        let line = #line + 12
        let test = Task {
            try await TestScope.failures {
                let provider = ControlledDataProvider<Int, Int>()
                let tasks = [Integrator(provider).prepareCall(1).call(), Integrator(provider).prepareCall(2).call()]
                let (answered, cancelled) = (try await provider.nextRequest(), try await provider.nextRequest())
                answered.answer(1)
                let isFirst = answered.input == 1
                tasks[isFirst ? 1 : 0].cancel()
                try await cancelled.cancelled()
                await tasks[isFirst ? 0 : 1].finish()
                withUnsafeCurrentTask { $0?.cancel() }
                try? await answered.cancelled()
                try? await cancelled.cancelled()
            }
        }
        #expect(
            try await test.value.map(\.summary) == [
                "\(line): Expected a cancel of the request, and none came until the test was cancelled."
            ])
    }

    @Test("ends with a request that ends without the cancel, and is a failure then, in each form")
    func endedWithoutCancel() async throws {
        var lines: [Int] = []
        let failures = try await TestScope.failures {
            let provider = ControlledDataProvider<Int, Int>()
            let plain = Task { try await provider.request(1) }
            let request = try await provider.nextRequest()
            request.answer(1)
            lines.append(#line + 1)
            try await request.cancelled()
            _ = try await plain.value

            let stream = ControlledStreamDataProvider<Int, Int>()
            let many = Task { try await stream.request(1) }
            let values = try await stream.nextRequest()
            values.send(1)
            values.finish()
            lines.append(#line + 1)
            try await values.cancelled()
            _ = try await many.value

            for isDropped in [false, true] {
                let callback = ControlledCallbackDataProvider<Int, Int>()
                let task = Integrator(callback).prepareCall(1).call()
                let called = try await callback.nextRequest()
                if isDropped { called.drop() } else { called.answer(1) }
                lines.append(#line + 1)
                try await called.cancelled()
                await task.finish()
            }
        }
        #expect(
            failures.map(\.summary)
                == lines.map { "\($0): Expected a cancel of the request, and it ended without one." })
    }
}
