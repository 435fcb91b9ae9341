import IDMCore
import IDMTesting
import TestSupport
import Testing

/// What is expected to have come already.
extension IntegrationRecorderTests {
    @Test("meets what has been heard by now, also as a cancel returns")
    @MainActor
    func heardAtOnce() async throws {
        try await TestScope.run {
            let (recorder, provider) = (IntegrationRecorder<Int>(), ControlledDataProvider<Int, Int>())
            let task = recorder.call(Integrator(provider).prepareCall(1))
            let request = try await provider.nextRequest()
            recorder.expectHeard(.began)
            task.cancel()
            if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                recorder.expectHeard(.cancelled(.cancelled), .completed)
            } else {
                try await recorder.expect(.cancelled(.cancelled), .completed)
            }
            try await request.ended()
        }
    }

    @Test("doesn't wait for what hasn't come, and tells no other failure when it comes")
    func notYetHeard() async throws {
        let line = #line + 5
        let failures = try await TestScope.failures {
            let (recorder, provider) = (IntegrationRecorder<Int>(), ControlledDataProvider<Int, Int>())
            let task = recorder.call(Integrator(provider).prepareCall(1))
            let request = try await provider.nextRequest()
            recorder.expectHeard(.began, .succeeded(1), .completed)
            request.answer(1)
            await task.finish()
        }
        #expect(failures.map(\.summary) == ["\(line): Expected began, succeeded(1), completed, and began came."])
    }

    @Test("counts what is missing once more, and so tells nothing of it when it comes")
    func missedTwice() async throws {
        let failures = try await TestScope.failures {
            let recorder = IntegrationRecorder<Int>()
            recorder.expectHeard(.began)
            recorder.expectHeard(.succeeded(1), .completed)
            await recorder.call(Integrator(Echo<Int>()).prepareCall(1)).finish()
            recorder.verify()
            await recorder.call(Integrator(Echo<Int>()).prepareCall(2)).finish()
        }
        #expect(
            failures.map(\.message) == [
                "Expected began, and nothing came.", "Expected succeeded(1), completed, and nothing came.",
                "Expected nothing more, and began, succeeded(2), completed came.",
            ])
    }

    @Test("leaves what is missing to the next expectation, if it comes")
    func missedAndFound() async throws {
        let failures = try await TestScope.failures {
            let recorder = IntegrationRecorder<Int>()
            recorder.expectHeard(.began)
            await recorder.call(Integrator(Echo<Int>()).prepareCall(1)).finish()
            recorder.expectHeard(.began, .succeeded(1), .completed)
        }
        #expect(failures.map(\.message) == ["Expected began, and nothing came."])
    }

    @Test("fails for a call that hasn't been made")
    func nothingHeard() async throws {
        let line = #line + 3
        let failures = try await TestScope.failures {
            let recorder = IntegrationRecorder<Int>()
            recorder.expectHeard(.began)
            await recorder.call(Integrator(Echo<Int>()).prepareCall(1)).finish()
        }
        #expect(
            failures.map(\.summary) == [
                "\(line): Expected began, and nothing came.",
                "\(line - 1): Expected nothing more, and succeeded(1), completed came.",
            ])
    }

    @Test("fails if another event has come, and takes what it names of the rest")
    func anotherHeard() async throws {
        let line = #line + 4
        let failures = try await TestScope.failures {
            let recorder = IntegrationRecorder<Int>()
            await recorder.call(Integrator(Echo<Int>()).prepareCall(1)).finish()
            recorder.expectHeard(.failed, .succeeded(1))
            recorder.expectHeard(.completed)
        }
        #expect(
            failures.map(\.summary) == ["\(line): Expected failed, succeeded(1), and began, succeeded(1) came."])
    }

    @Test("leaves what it doesn't name to the next expectation, which may wait")
    func heardInParts() async throws {
        try await TestScope.run {
            let (recorder, stream) = (IntegrationRecorder<Int>(), ControlledStreamDataProvider<Int, Int>())
            let task = recorder.call(Integrator(stream).prepareCall(1))
            let request = try await stream.nextRequest()
            recorder.expectHeard(.began)
            request.send(1)
            try await recorder.expect(.succeeded(1))
            request.send(2)
            request.finish()
            await task.finish()
            recorder.expectHeard(.succeeded(2))
            recorder.expectHeard(.completed)
        }
    }

    @Test("passes over progress that it doesn't name")
    func heardProgress() async throws {
        try await TestScope.run {
            let (recorder, provider) = (IntegrationRecorder<Int>(), ControlledDataProvider<Int, Int>())
            let task = recorder.call(Integrator(provider).prepareCall(1))
            let request = try await provider.nextRequest()
            try #require(request.reporter).report(fraction: 0.5)
            request.answer(1)
            await task.finish()
            #expect(recorder.events.contains { if case .progressed = $0 { true } else { false } })
            recorder.expectHeard(.began, .succeeded(1), .completed)
        }
    }

    @Test("leaves to an expectation that waits what comes after it has failed")
    func waitingBeside() async throws {
        let failures = try await TestScope.failures {
            let (recorder, stream) = (IntegrationRecorder<Int>(), ControlledStreamDataProvider<Int, Int>())
            let task = recorder.call(Integrator(stream).prepareCall(1))
            let request = try await stream.nextRequest()
            recorder.expectHeard(.began, .succeeded(7))
            request.send(1)
            request.finish()
            await task.finish()
            try await recorder.expect(.succeeded(1), .completed)
        }
        #expect(failures.map(\.message) == ["Expected began, succeeded(7), and began came."])
    }
}
