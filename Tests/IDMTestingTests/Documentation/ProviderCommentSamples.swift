import IDMCore
import IDMTesting
import TestSupport
import Testing

extension Surroundings {
    fileprivate static func controlled() async throws {
        // sample: a provider that waits for the test
        let provider = ControlledDataProvider<String, [String]>()
        let task = Integrator(provider).prepareCall("apple").call()
        try await provider.waitForRequest().answer(["Ada"])
        let names = try await task.value
        // end
        #expect(names == ["Ada"])
    }

    @MainActor
    fileprivate static func controlledStream() async throws {
        // sample: a stream that waits for the test
        let stream = ControlledStreamDataProvider<String, Int>()
        let task = Integrator(stream).prepareCall("counter").onSuccess { count in print(count) }.call()
        let request = try await stream.waitForRequest()
        request.send(1)
        request.send(2)
        request.finish()
        #expect(try await task.value == 2)
        // end
    }

    fileprivate static func controlledCallback() async throws {
        // sample: a callback that comes twice
        let provider = ControlledCallbackDataProvider<Int, String>()
        let task = Integrator(provider).prepareCall(1).call()
        let request = try await provider.waitForRequest()
        request.answer("first")
        request.answer("twice")
        #expect(try await task.value == "first")
        // end
    }

    fileprivate static func stubs() async throws {
        // sample: prepared answers
        let always = StubDataProvider<String, [String]>(["Ada"])
        let failing = StubDataProvider<String, [String]>(failing: Offline())
        let inOrder = StubDataProvider<Int, String>(answers: [.success("first"), .failure(Offline())])
        let computed = StubDataProvider { (id: Int) in "user \(id)" }
        let never = StubDataProvider<Int, String>.unexpected()
        // end
        #expect(try await always.request("apple") == ["Ada"])
        await #expect(throws: Offline.self) { try await failing.request("apple") }
        #expect(try await inOrder.request(1) == "first")
        await #expect(throws: Offline.self) { try await inOrder.request(1) }
        #expect(try await computed.request(1) == "user 1")
        _ = never
    }

    fileprivate static func spy() async throws {
        // sample: a provider that remembers
        let spy = SpyDataProvider(UserDataProvider())
        _ = try await Integrator(spy).request("apple")
        #expect(spy.inputs == ["apple"])
        // end
    }
}

@Suite("Samples of the comments on providers", .timeLimit(.ample))
struct ProviderCommentSamples {
    @Test func `a controlled provider`() async throws { try await Surroundings.controlled() }
    @Test func `a controlled stream`() async throws { try await Surroundings.controlledStream() }
    @Test func `a controlled callback`() async throws { try await Surroundings.controlledCallback() }
    @Test func `stubs`() async throws { try await Surroundings.stubs() }
    @Test func `a spy`() async throws { try await Surroundings.spy() }
}
