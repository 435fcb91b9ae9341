import IDMCore
import IDMTesting
import TestSupport
import Testing

/// Who waits for the events of a recorder, and what becomes of a wait that is cancelled.
extension IntegrationRecorderTests {
    @Test("lets several wait at once, each for an event of its own")
    @MainActor
    func severalWait() async throws {
        try await TestScope.run {
            let (clock, provider) = (ManualClock(), ControlledDataProvider<Int, Int>())
            let (integrator, recorder) = (Integrator(provider), IntegrationRecorder<Int>())
            recorder.hear(integrator)
            let waiting = (0..<3).map { _ in
                Task(executorPreference: clock.executor) { try await recorder.expect(.any) }
            }
            // At rest they all wait, and one event wakes them all.
            await clock.rest()
            let task = integrator.prepareCall(1).call()
            let request = try await provider.nextRequest()
            await clock.rest()
            request.answer(1)
            for waiter in waiting { try await waiter.value }
            await task.finish()
        }
    }

    @Test("says what is missing when the scope is cancelled in which a task waits")
    func missing() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider)
        let failures = Watched<[TestFailure]>([])
        let line = #line + 5
        let test = Task {
            try await TestScope.run(reportingTo: { failure in failures.change { $0.append(failure) } }) {
                let recorder = IntegrationRecorder<Int>()
                recorder.call(integrator.prepareCall(1))
                try await recorder.expect(.began, .succeeded(1), .completed)
            }
        }
        _ = try await provider.nextRequest()
        test.cancel()
        await #expect(throws: CancellationError.self) { try await test.value }
        #expect(
            failures.value.map(\.summary) == [
                "\(line): Expected began, succeeded(1), completed, and began came until the test was cancelled."
            ])
        integrator.cancel()
    }

    /// What a test expects that is cancelled already, where a call has begun, or has ended with 1, and what is missing.
    static let lateWaits: [(isOver: Bool, missing: String?, wait: LateWait)] = [
        (false, "Expected began, succeeded(1), and began came", { try await $0.expect(.began, .succeeded(1)) }),
        (false, "Expected succeeded(1), and began came", { try await $0.expect(.succeeded(1)) }),
        (false, nil, { try await $0.expect(.began) }),
        (
            true, "Expected began, failed, and began, progressed(0.5), succeeded(1) came",
            { try await $0.expect(.began, .failed) }
        ),
        (
            true,
            "Expected began, succeeded(1), completed, began, and began, progressed(0.5), succeeded(1), completed came",
            { try await $0.expect(.began, .succeeded(1), .completed, .began) }
        ),
        (true, nil, { try await $0.expect(.began, .succeeded(1)) }),
        (true, nil, { try await $0.expect(.began, .progressed(0.5), .succeeded(1), .completed) }),
    ]
    typealias LateWait = @Sendable (IntegrationRecorder<Int>) async throws -> Void

    @Test(
        "says what is missing, and no more, where the scope was cancelled before the task waits",
        arguments: lateWaits.indices)
    func lateWait(index: Int) async throws {
        let (isOver, missing, wait) = Self.lateWaits[index]
        let test = Task {
            try await TestScope.failures(failingOnLeftovers: false) {
                let (provider, recorder) = (ControlledDataProvider<Int, Int>(), IntegrationRecorder<Int>())
                let task = recorder.call(Integrator(provider).prepareCall(1))
                defer { task.cancel() }
                let request = try await provider.nextRequest()
                if isOver {
                    request.reporter?.report(fraction: 0.5)
                    request.answer(1)
                    await task.finish()
                }
                withUnsafeCurrentTask { $0?.cancel() }
                await #expect(throws: CancellationError.self) { try await wait(recorder) }
            }
        }
        let expected = missing.map { ["\($0) until the test was cancelled."] } ?? []
        #expect(try await test.value.map(\.message) == expected)
    }

    @Test("says nothing of a wait that the test itself cancels, and leaves it the events that it didn't look at")
    func cancelledWait() async throws {
        try await TestScope.run {
            let provider = ControlledDataProvider<Int, Int>()
            let (integrator, recorder) = (Integrator(provider), IntegrationRecorder<Int>())
            let task = recorder.call(integrator.prepareCall(1))
            let request = try await provider.nextRequest()
            try await recorder.expect(.began)
            let waiting = Task { try await recorder.expect(.succeeded(1), .completed) }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            request.answer(1)
            await task.finish()
            let late = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await recorder.expect(.succeeded(1), .completed)
            }
            await #expect(throws: CancellationError.self) { try await late.value }
            try await recorder.expect(.succeeded(1), .completed)
        }
    }
}

extension EventExpectation {
    fileprivate static var any: Self { Self("any") { _ in true } }
}
