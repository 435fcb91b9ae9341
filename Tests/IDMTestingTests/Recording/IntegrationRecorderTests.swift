import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("A recorder", .timeLimit(.ample))
struct IntegrationRecorderTests {
    @Test("meets the events of a call in order")
    func success() async throws {
        try await TestScope.run {
            let recorder = IntegrationRecorder<Int>()
            recorder.call(Integrator(Echo<Int>()).prepareCall(1))
            try await recorder.expect(.began)
            try await recorder.expect(.succeeded(1), .completed)
        }
    }

    @Test("knows with the last event of a call that it has ended")
    func ended() async throws {
        let failures = try await TestScope.failures {
            let recorder = IntegrationRecorder<Int>(exhaustive: false)
            // Asked after the last event, before anything else can be known of the end.
            let next = Integrator<Int, Int>(
                Echo(),
                lane: { number in
                    recorder.verify()
                    return number
                })
            await recorder.call(Integrator(Echo<Int>()).prepareCall(1).forwardSuccess(to: next)).finish()
        }
        #expect(failures.map(\.message) == ["Expected nothing more, and began, succeeded(1), completed came."])
    }

    @Test("waits for the run that comes after a call and tells its handlers again")
    @MainActor
    func recall() async throws {
        try await TestScope.run {
            let recorder = IntegrationRecorder<Int>()
            let remote = Integrator(Echo<Int>())
            // The first run has ended when this returns, and the second begins in a later turn.
            recorder.call(Integrator(Echo<Int>()).prepareCall(1).thenRecall(with: remote, 2))
            try await recorder.expect(.began, .succeeded(1), .completed, .began, .succeeded(2), .completed)
        }
    }

    @Test("knows every kind of event")
    func kinds() async throws {
        try await TestScope.run {
            let recorder = IntegrationRecorder<Int>()
            let stub = StubDataProvider<Int, Int>(answers: [.failure(Trouble.first), .failure(Trouble.second)])
            let failing = recorder.call(Integrator(stub).prepareCall(1).retry(1))
            try await recorder.expect(.began, .retried(1), .failed(Trouble.second), .completed)
            await failing.finish()

            let provider = ControlledDataProvider<Int, Int>()
            let integrator = Integrator(provider, executing: .only)
            let running = recorder.call(integrator.prepareCall(1))
            let request = try await provider.nextRequest()
            await recorder.call(integrator.prepareCall(2)).finish()
            try await recorder.expect(.began, .cancelled(.ignored))
            request.reporter?.report(fraction: 0.5)
            try await recorder.expect(.progressed(0.5))
            request.answer(7)
            await running.finish()
            try await recorder.expect(.succeeded { $0 > 6 }, .completed)
        }
    }

    @Test("fails at the line of the expectation, with what was expected and what came")
    func mismatch() async throws {
        let line = #line + 5
        let failures = try await TestScope.failures {
            let recorder = IntegrationRecorder<Int>()
            // It doesn't wait for what comes after the event that is another one.
            await recorder.call(Integrator(Echo<Int>()).prepareCall(1)).finish()
            try await recorder.expect(.began, .succeeded(2), .completed)
        }
        #expect(
            failures.map(\.summary) == [
                "\(line): Expected began, succeeded(2), completed, and began, succeeded(1), completed came."
            ])
    }

    @Test("fails as soon as an event is another one, and waits for no more")
    func earlyMismatch() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider)
        let failures = try await TestScope.failures(failingOnLeftovers: false) {
            let recorder = IntegrationRecorder<Int>()
            recorder.call(integrator.prepareCall(1))
            // It never ends, and nothing else comes.
            try await recorder.expect(.cancelled(.ignored), .completed)
        }
        #expect(failures.map(\.message) == ["Expected cancelled(ignored), completed, and began came."])
        integrator.cancel()
    }

    /// What fails in a test whose call has brought 1, and goes on until its stream is ended.
    private func failuresOfOpenStream(
        _ test: (
            IntegrationRecorder<Int>, ControlledStreamRequest<Int, Int>, IntegrationTask<Int>
        ) async throws -> Void
    ) async throws -> [TestFailure] {
        try await TestScope.failures {
            let (recorder, stream) = (IntegrationRecorder<Int>(), ControlledStreamDataProvider<Int, Int>())
            let task = recorder.call(Integrator(stream).prepareCall(1))
            let request = try await stream.nextRequest()
            request.send(1)
            try await test(recorder, request, task)
        }
    }

    @Test("tells one failure of an expectation, also if a part of what it named comes later")
    func lateRest() async throws {
        let line = #line + 2
        let failures = try await failuresOfOpenStream { recorder, request, task in
            try await recorder.expect(.began, .failed, .completed)
            request.finish()
            await task.finish()
        }
        #expect(
            failures.map(\.summary) == ["\(line): Expected began, failed, completed, and began, succeeded(1) came."])
    }

    @Test("tells what comes beyond as many events as the failed expectation named")
    func beyondTheRest() async throws {
        let failures = try await failuresOfOpenStream { recorder, request, task in
            try await recorder.expect(.began, .failed, .completed)
            request.send(2)
            request.send(3)
            request.finish()
            await task.finish()
        }
        #expect(
            failures.map(\.message) == [
                "Expected began, failed, completed, and began, succeeded(1) came.",
                "Expected nothing more, and succeeded(3), completed came.",
            ])
    }

    @Test("meets what comes after a failed expectation with the next one")
    func afterAFailedOne() async throws {
        let failures = try await failuresOfOpenStream { recorder, request, task in
            try await recorder.expect(.began, .failed, .completed)
            request.send(2)
            try await recorder.expect(.succeeded(2))
            recorder.verify()
            request.finish()
            await task.finish()
        }
        #expect(
            failures.map(\.message) == [
                "Expected began, failed, completed, and began, succeeded(1) came.",
                "Expected the call to have ended, and it had not.",
                "Expected nothing more, and completed came.",
            ])
    }

    @Test("leaves out of what is left over once what a failed expectation named")
    func verifiedRest() async throws {
        let failures = try await failuresOfOpenStream { recorder, request, task in
            try await recorder.expect(.began, .failed, .succeeded(2), .completed)
            request.send(2)
            request.finish()
            await task.finish()
            recorder.verify()
            await recorder.call(Integrator(Echo<Int>()).prepareCall(3)).finish()
        }
        #expect(
            failures.map(\.message) == [
                "Expected began, failed, succeeded(2), completed, and began, succeeded(1) came.",
                "Expected nothing more, and began, succeeded(3), completed came.",
            ])
    }

    @Test("leaves it out also where it was looked at before another expectation was met by it")
    func verifiedBetween() async throws {
        let failures = try await failuresOfOpenStream { recorder, request, task in
            try await recorder.expect(
                .began, .failed, .began, .succeeded(3), .completed, .succeeded(2), .completed)
            await recorder.call(Integrator(Echo<Int>()).prepareCall(3)).finish()
            recorder.verify()
            try await recorder.expect(.began, .succeeded(3), .completed)
            request.send(2)
            request.finish()
            await task.finish()
        }
        #expect(
            failures.map(\.message) == [
                "Expected began, failed, began, succeeded(3), completed, succeeded(2), completed, and began, "
                    + "succeeded(1) came.",
                "Expected the call to have ended, and it had not.",
            ])
    }

    @Test("leaves it out also where every call had ended when the expectation failed")
    func failedAtTheEnd() async throws {
        let failures = try await TestScope.failures {
            let recorder = IntegrationRecorder<Int>()
            await recorder.call(Integrator(Echo<Int>()).prepareCall(1)).finish()
            try await recorder.expect(.began, .succeeded(1), .completed, .began, .succeeded(2), .completed)
            for input in 2...3 { await recorder.call(Integrator(Echo<Int>()).prepareCall(input)).finish() }
        }
        #expect(
            failures.map(\.message) == [
                "Expected began, succeeded(1), completed, began, succeeded(2), completed, and began, succeeded(1), "
                    + "completed came.",
                "Expected nothing more, and began, succeeded(3), completed came.",
            ])
    }

    @Test("leaves it out also where another expectation failed before it came")
    func failedTwice() async throws {
        let failures = try await failuresOfOpenStream { recorder, request, task in
            try await recorder.expect(.began, .failed, .succeeded(2), .succeeded(3), .completed)
            request.send(2)
            try await recorder.expect(.succeeded(9))
            request.send(3)
            request.finish()
            await task.finish()
        }
        #expect(
            failures.map(\.message) == [
                "Expected began, failed, succeeded(2), succeeded(3), completed, and began, succeeded(1) came.",
                "Expected succeeded(9), and succeeded(2) came.",
            ])
    }

    @Test("knows of calls of an integrator that haven't begun, and of others made with it")
    func unendedOfBoth() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let (queue, other) = (Integrator(provider, executing: .queue), Integrator(provider))
        let failures = try await TestScope.failures {
            let recorder = IntegrationRecorder<Int>()
            recorder.hear(queue)
            for input in 0..<3 { queue.prepareCall(input).call() }
            try await recorder.expect(.began)
            recorder.call(other.prepareCall(4))
            try await recorder.expect(.began)
        }
        #expect(
            failures.map(\.message) == [
                "Expected the call to have ended, and it had not.", "Expected every call to have ended, and 3 had not.",
            ])
        queue.cancel()
        other.cancel()
    }

    @Test("fails for the stubs of its scope that weren't used up, once")
    func stubs() async throws {
        let line = #line + 2
        let failures = try await TestScope.failures {
            let stub = StubDataProvider<Int, Int>(values: [1, 2])
            let recorder = IntegrationRecorder<Int>()
            await recorder.call(Integrator(stub).prepareCall(1)).finish()
            try await recorder.expect(.began, .succeeded(1), .completed)
            recorder.verify()
        }
        #expect(failures.map(\.summary) == ["\(line): The stub expected 2 requests, and 1 came."])
    }

    @Test("asks nothing of stubs if it isn't exhaustive")
    func stubsOfOthers() async throws {
        let failures = try await TestScope.failures(failingOnLeftovers: false) {
            _ = StubDataProvider<Int, Int>(1)
            let recorder = IntegrationRecorder<Int>(exhaustive: false)
            recorder.verify()
        }
        #expect(failures.isEmpty)
    }

    @Test("doesn't wait for what can't come any more")
    func tooFew() async throws {
        let failures = try await TestScope.failures {
            let recorder = IntegrationRecorder<Int>()
            recorder.call(Integrator(Echo<Int>()).prepareCall(1))
            try await recorder.expect(.began, .succeeded(1), .completed, .began)
        }
        #expect(
            failures.map(\.message) == [
                "Expected began, succeeded(1), completed, began, and began, succeeded(1), completed came."
            ])
    }

    @Test("fails at the end for events that nobody expected")
    func unexpected() async throws {
        let line = #line + 2
        let failures = try await TestScope.failures {
            let recorder = IntegrationRecorder<Int>()
            await recorder.call(Integrator(Echo<Int>()).prepareCall(1)).finish()
            try await recorder.expect(.began)
        }
        #expect(failures.map(\.summary) == ["\(line): Expected nothing more, and succeeded(1), completed came."])
    }

    @Test("asks nothing at the end if it isn't exhaustive")
    func notExhaustive() async throws {
        try await TestScope.run {
            let recorder = IntegrationRecorder<Int>(exhaustive: false)
            await recorder.call(Integrator(Echo<Int>()).prepareCall(1)).finish()
        }
    }

    @Test("can be asked before the end")
    func verify() async throws {
        let line = #line + 4
        let failures = try await TestScope.failures(failingOnLeftovers: false) {
            let recorder = IntegrationRecorder<Int>()
            await recorder.call(Integrator(Echo<Int>()).prepareCall(1)).finish()
            recorder.verify()
            try await recorder.expect(.began, .succeeded, .completed)
            recorder.verify()
        }
        #expect(
            failures.map(\.summary) == ["\(line): Expected nothing more, and began, succeeded(1), completed came."])
    }

    @Test("hears every call of an integrator, and knows which haven't ended")
    func integrator() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider)
        let line = #line + 2
        let failures = try await TestScope.failures {
            let recorder = IntegrationRecorder<Int>()
            recorder.hear(integrator)
            let first = integrator.prepareCall(1).call()
            try await provider.nextRequest().answer(1)
            await first.finish()
            integrator.prepareCall(2).call()
            _ = try await provider.nextRequest()
            try await recorder.expect(.began, .succeeded(1), .completed, .began)
        }
        #expect(failures.map(\.summary) == ["\(line): Expected every call to have ended, and 1 had not."])
        integrator.cancel()
    }

    @Test("hears of a call on another thread all or nothing, when it comes as an integrator is to be heard")
    func hearingMeanwhile() async throws {
        for _ in 0..<300 {
            let (integrator, calls) = (Integrator(Echo<Int>()), Watched((made: 0, isEnough: false)))
            let failures = try await TestScope.failures {
                let recorder = IntegrationRecorder<Int>()
                async let calling: Void = Self.keepCalling(integrator, calls)
                try await calls.wait { $0.made > 0 }
                recorder.hear(integrator)
                calls.change { $0.isEnough = true }
                await calling
                for _ in 0..<recorder.events.count / 3 { try await recorder.expect(.began, .succeeded, .completed) }
            }
            try #require(failures.map(\.message) == [])
        }
    }

    @concurrent
    private static func keepCalling(
        _ integrator: Integrator<Int, Int>, _ calls: Watched<(made: Int, isEnough: Bool)>
    ) async {
        while !calls.value.isEnough {
            await integrator.prepareCall(1).call().finish()
            calls.change { $0.made += 1 }
        }
    }
}
