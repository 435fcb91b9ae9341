import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("A recorder", .timeLimit(.ample))
struct IntegrationRecorderTests {
    @Test("A recorder meets the events of each kind in order")
    func kinds() async throws {
        try await TestScope.run {
            let recorder = IntegrationRecorder<Int>()
            let stub = StubDataProvider<Int, Int>(answers: [.failure(Trouble.first), .failure(Trouble.second)])
            await recorder.call(Integrator(stub).prepareCall(1).retry(1)).finish()
            try await recorder.waitForEvents(.began)
            try await recorder.waitForEvents(.retried(1), .failed(Trouble.second), .completed)

            let provider = ControlledDataProvider<Int, Int>()
            let integrator = Integrator(provider, executing: .only)
            let running = recorder.call(integrator.prepareCall(1))
            let request = try await provider.waitForRequest()
            await recorder.call(integrator.prepareCall(2)).finish()
            try await recorder.waitForEvents(.began, .cancelled(.ignored))
            request.reporter?.report(fraction: 0.5)
            try await recorder.waitForEvents(.progressed(0.5))
            request.answer(7)
            await running.finish()
            try await recorder.waitForEvents(.succeeded { $0 > 6 }, .completed)
        }
    }

    @Test("A recorder waits for the run that a recall adds to a call")
    @MainActor
    func recall() async throws {
        try await TestScope.run {
            let recorder = IntegrationRecorder<Int>()
            let remote = Integrator(Echo<Int>())
            // The first run has ended when this returns, and the second begins in a later turn.
            recorder.call(Integrator(Echo<Int>()).prepareCall(1).thenRecall(with: remote, 2))
            try await recorder.waitForEvents(.began, .succeeded(1), .completed, .began, .succeeded(2), .completed)
        }
    }

    /// A test with a mistake, and its failures.
    struct Mistake: Sendable, CustomTestStringConvertible {
        typealias Body =
            @Sendable (
                IntegrationRecorder<Int>, ControlledStreamRequest<Int, Int>, IntegrationTask<Int>
            ) async throws -> Void

        let testDescription: String
        let failures: [String]
        let body: Body

        init(_ name: String, _ failures: [String], _ body: @escaping Body) {
            (testDescription, self.failures, self.body) = (name, failures, body)
        }
    }

    /// Each body gets an open call whose stream has delivered 1.
    static let mistakes: [Mistake] = [
        Mistake("another value", ["Expected began, succeeded(2), and began, succeeded(1) came."]) {
            recorder, request, task in
            try await recorder.waitForEvents(.began, .succeeded(2))
            request.finish()
            await task.finish()
            try await recorder.waitForEvents(.completed)
        },
        Mistake(
            "no further event",
            ["Expected began, succeeded(1), completed, began, and began, succeeded(1), completed came."]
        ) {
            recorder, request, _ in
            request.finish()
            try await recorder.waitForEvents(.began, .succeeded(1), .completed, .began)
        },
        Mistake(
            "a part of a failed expectation comes later",
            ["Expected began, failed, completed, and began, succeeded(1) came."]
        ) {
            recorder, request, task in
            try await recorder.waitForEvents(.began, .failed, .completed)
            request.finish()
            await task.finish()
        },
        Mistake(
            "more events than a failed expectation names",
            [
                "Expected began, failed, completed, and began, succeeded(1) came.",
                "Expected nothing more, and succeeded(3), completed came.",
            ]
        ) { recorder, request, task in
            try await recorder.waitForEvents(.began, .failed, .completed)
            for value in 2...3 { request.send(value) }
            request.finish()
            await task.finish()
        },
        Mistake("an unexpected value", ["Expected nothing more, and succeeded(1), completed came."]) {
            recorder, request, task in
            try await recorder.waitForEvents(.began)
            request.finish()
            await task.finish()
        },
        Mistake("an unended call", ["Expected the call to have ended, and it had not."]) { recorder, _, _ in
            try await recorder.waitForEvents(.began, .succeeded(1))
        },
        Mistake("an unended call in verify", ["Expected the call to have ended, and it had not."]) {
            recorder, request, task in
            try await recorder.waitForEvents(.began, .succeeded(1))
            recorder.verify()
            request.finish()
            await task.finish()
            try await recorder.waitForEvents(.completed)
        },
        Mistake("an event that hasn't come yet", ["Expected completed, and nothing came."]) { recorder, request, task in
            try await recorder.waitForEvents(.began, .succeeded(1))
            recorder.expectRecorded(.completed)
            request.finish()
            await task.finish()
        },
        Mistake("another event than a recorded one", ["Expected failed, completed, and began, succeeded(1) came."]) {
            recorder, request, task in
            request.finish()
            await task.finish()
            recorder.expectRecorded(.failed, .completed)
            recorder.expectRecorded(.completed)
        },
        Mistake("an open chain", ["Expected all that is chained to the call to have ended, and it had not."]) {
            recorder, request, task in
            request.finish()
            await task.finish()
            try await recorder.waitForEvents(.began, .succeeded(1), .completed)
            let open = Integrator(ControlledDataProvider<Int, Int>(reactsToCancel: true))
            let chained = recorder.call(Integrator(Echo<Int>()).prepareCall(1).nextSuccess(open.prepareCall(2)))
            try await recorder.waitForEvents(.began, .succeeded(1), .completed)
            openCalls.change { $0.append { open.cancel() } }
            _ = chained
        },
    ]
    private static let openCalls = Observed<[@Sendable () -> Void]>([])

    @Test("Each mistake of a test is one failure", arguments: mistakes)
    func found(mistake: Mistake) async throws {
        let failures = try await TestScope.failures {
            let (recorder, stream) = (IntegrationRecorder<Int>(), ControlledStreamDataProvider<Int, Int>())
            let clock = ManualClock()
            let task = recorder.call(Integrator(stream).prepareCall(1))
            let request = try await stream.waitForRequest()
            request.send(1)
            await clock.rest()
            try await mistake.body(recorder, request, task)
        }

        #expect(failures.map(\.message).filter { !$0.hasPrefix("Expected an answer") } == mistake.failures)
    }

    @Test("A failure has the line of its expectation or call")
    func lines() async throws {
        let line = #line + 3
        let failures = try await TestScope.failures {
            let (recorder, provider) = (IntegrationRecorder<Int>(), ControlledDataProvider<Int, Int>())
            recorder.call(Integrator(provider).prepareCall(1))
            _ = try await provider.waitForRequest()
            try await recorder.waitForEvents(.failed)
        }

        #expect(failures.map { $0.place.line - line } == [2, 0, 1])
    }

    @Test("A recorder that isn't exhaustive has no end checks")
    func notExhaustive() async throws {
        try await TestScope.run {
            let recorder = IntegrationRecorder<Int>(exhaustive: false)
            await recorder.call(Integrator(Echo<Int>()).prepareCall(1)).finish()
        }
    }

    @Test("Verify reports unused stubs once, at their lines")
    func stubs() async throws {
        let line = #line + 2
        let failures = try await TestScope.failures {
            let stub = StubDataProvider<Int, Int>(values: [1, 2])
            let recorder = IntegrationRecorder<Int>()
            await recorder.call(Integrator(stub).prepareCall(1)).finish()
            try await recorder.waitForEvents(.began, .succeeded(1), .completed)
            recorder.verify()
        }

        #expect(failures.map(\.summary) == ["\(line): The stub expected 2 requests, and 1 came."])
    }

    @Test("A recorded integrator reports all of its calls, and those that haven't ended")
    func integrator() async throws {
        let (provider, line) = (ControlledDataProvider<Int, Int>(), #line + 3)
        let queue = Integrator(provider, executing: .queue)
        let failures = try await TestScope.failures {
            let recorder = IntegrationRecorder<Int>()
            recorder.record(queue)
            for input in 0..<3 { queue.prepareCall(input).call() }
            try await provider.waitForRequest().answer(0)
            try await recorder.waitForEvents(.began, .succeeded(0), .completed, .began)
        }

        #expect(failures.map(\.summary) == ["\(line): Expected every call to have ended, and 2 had not."])
        queue.cancel()
    }

    @Test("Recording starts with whole calls")
    func hearingMeanwhile() async throws {
        for _ in 0..<100 {
            let (integrator, calls) = (Integrator(Echo<Int>()), Observed((made: 0, isEnough: false)))
            let failures = try await TestScope.failures {
                let recorder = IntegrationRecorder<Int>()
                async let calling: Void = Self.keepCalling(integrator, calls)
                try await calls.wait { $0.made > 0 }
                recorder.record(integrator)
                calls.change { $0.isEnough = true }
                await calling
                for _ in 0..<recorder.events.count / 3 {
                    try await recorder.waitForEvents(.began, .succeeded, .completed)
                }
            }
            try #require(failures.map(\.message) == [])
        }
    }

    @concurrent
    private static func keepCalling(
        _ integrator: Integrator<Int, Int>, _ calls: Observed<(made: Int, isEnough: Bool)>
    ) async {
        while !calls.value.isEnough {
            await integrator.prepareCall(1).call().finish()
            calls.change { $0.made += 1 }
        }
    }

    @Test("Expectations pass over progress, and meet a report that they name")
    func progress() async throws {
        try await TestScope.run {
            let (recorder, provider) = (IntegrationRecorder<Int>(), ControlledDataProvider<Int, Int>())
            let (clock, task) = (ManualClock(), recorder.call(Integrator(provider).prepareCall(1)))
            let request = try await provider.waitForRequest()
            for fraction in [0.25, 0.5] {
                request.reporter?.report(fraction: fraction)
                await clock.rest()
            }
            try await recorder.waitForEvents(.began, .progressed(0.5))
            request.answer(1)
            await task.finish()
            recorder.expectRecorded(.succeeded(1), .completed)
        }
    }

    @Test("A report beyond the expected fraction fails")
    func progressBeyond() async throws {
        let failures = try await TestScope.failures {
            let (recorder, provider) = (IntegrationRecorder<Int>(), ControlledDataProvider<Int, Int>())
            let task = recorder.call(Integrator(provider).prepareCall(1))
            let request = try await provider.waitForRequest()
            request.reporter?.report(fraction: 0.5)
            try await recorder.waitForEvents(.began, .progressed(0.4))
            request.answer(1)
            await task.finish()
            try await recorder.waitForEvents(.succeeded(1), .completed)
        }

        #expect(failures.map(\.message) == ["Expected began, progressed(0.4), and began, progressed(0.5) came."])
    }

    @Test("Several tasks wait for an event each")
    @MainActor
    func severalWaits() async throws {
        try await TestScope.run {
            let (clock, provider) = (ManualClock(), ControlledDataProvider<Int, Int>())
            let (integrator, recorder) = (Integrator(provider), IntegrationRecorder<Int>())
            recorder.record(integrator)
            let waiting = (0..<3).map { _ in
                Task(executorPreference: clock.executor) {
                    try await recorder.waitForEvents(EventExpectation("any") { _ in true })
                }
            }
            await clock.rest()
            let task = integrator.prepareCall(1).call()
            try await provider.waitForRequest().answer(1)
            for waiter in waiting { try await waiter.value }
            await task.finish()
        }
    }

    @Test("Recording keeps the synchronous delivery of a call")
    @MainActor
    func synchrony() async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        try await TestScope.run {
            let (recorder, provider) = (IntegrationRecorder<Int>(), ControlledDataProvider<Int, Int>())
            let task = recorder.call(Integrator(provider).prepareCall(1))
            let request = try await provider.waitForRequest()
            recorder.expectRecorded(.began)
            task.cancel()
            await task.finish()
            recorder.expectRecorded(.cancelled(.cancelled), .completed)
            try await request.waitUntilEnded()
        }
    }
}
