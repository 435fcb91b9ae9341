import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("A spy", .timeLimit(.ample))
struct SpyDataProviderTests {
    @Test("A spy forwards a request, and records input and answer")
    func answer() async throws {
        let spy = SpyDataProvider(Echo<Int>())
        #expect(try await spy.request(3) == 3)
        let seen = try #require(spy.requests.first)
        #expect(spy.inputs == [3])
        #expect(seen.values == [3])
        #expect(try seen.outcome?.get() == 3)
        #expect(seen.isOver && !seen.isCancelled)
        #expect(spy.events == [.requested(0), .answered(0)])
    }

    @Test("A spy forwards and records an error")
    func error() async throws {
        let spy = SpyDataProvider(StubDataProvider<Int, Int>(failing: Trouble.first))
        await #expect(throws: Trouble.first) { try await spy.request(3) }
        #expect(throws: Trouble.first) { try spy.requests[0].outcome?.get() }
        #expect(spy.events == [.requested(0), .failed(0)])
    }

    @Test("A spy records which request a cancel reached")
    func cancel() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let spy = SpyDataProvider(provider)
        let task = Integrator(spy).prepareCall(1).call()
        _ = try await provider.waitForRequest()
        task.cancel()
        await task.finish()
        try await spy.waitForEndedRequests(1)
        #expect(spy.cancelCount == 1)
        #expect(spy.events == [.requested(0), .cancelled(0), .failed(0)])
    }

    @Test("A spy records the order in which requests begin and end")
    func order() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let spy = SpyDataProvider(provider)
        let integrator = Integrator(spy)
        let (first, second) = (integrator.prepareCall(1).call(), integrator.prepareCall(2).call())
        let requests = [try await provider.waitForRequest(), try await provider.waitForRequest()].sorted {
            $0.input < $1.input
        }
        requests[1].answer(20)
        await second.finish()
        requests[0].answer(10)
        await first.finish()
        let (one, two) = spy.inputs == [1, 2] ? (0, 1) : (1, 0)
        #expect(spy.events == [.requested(0), .requested(1), .answered(two), .answered(one)])
    }

    @Test("A spied stream stays a stream, with its values and end recorded")
    func stream() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let (spy, log) = (SpyDataProvider(stream), Log())
        let task = Integrator(spy).prepareCall(1).onSuccess { log.add("\($0)") }.call()
        let request = try await stream.waitForRequest()
        request.send(1)
        request.send(2)
        request.finish()
        await task.finish()
        #expect(log.entries == ["1", "2"])
        #expect(spy.requests[0].values == [1, 2])
        #expect(spy.events == [.requested(0), .answered(0), .answered(0), .finished(0)])
    }

    @Test("A spy records the error of a stream")
    func failingStream() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let spy = SpyDataProvider(stream)
        let task = Integrator(spy).prepareCall(1).call()
        let request = try await stream.waitForRequest()
        request.send(1)
        request.fail(Trouble.first)
        await task.finish()
        #expect(spy.events == [.requested(0), .answered(0), .failed(0)])
        #expect(throws: Trouble.first) { try spy.requests[0].outcome?.get() }
    }

    @Test("The outcome of a spied stream is its last value after the end")
    func outcomeOfStream() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let (spy, log) = (SpyDataProvider(stream), Log())
        let task = Integrator(spy).prepareCall(1).onSuccess { log.add("\($0)") }.call()
        let request = try await stream.waitForRequest()
        request.send(1)
        request.send(2)
        try await log.count(reaches: 2)
        #expect(spy.requests[0].outcome == nil && !spy.requests[0].isOver)
        request.finish()
        await task.finish()
        #expect(try spy.requests[0].outcome?.get() == 2)
    }

    @Test("A spy records one cancel of a stream")
    func cancelledStream() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>(reactsToCancel: false)
        let spy = SpyDataProvider(stream)
        let task = Task {
            var iterator = spy.values(for: 1).makeAsyncIterator()
            while try await iterator.next(isolation: nil) != nil {}
        }
        let request = try await stream.waitForRequest()
        task.cancel()
        try await request.waitUntilCancelled()
        for value in 1...3 { request.send(value) }
        request.finish()
        try await task.value
        #expect(spy.events == [.requested(0), .cancelled(0), .answered(0), .answered(0), .answered(0), .finished(0)])
    }

    @Test("A spied stream ends when its iterator is released")
    func abandoned() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let spy = SpyDataProvider(stream)
        let task = Task {
            for try await value in spy.values(for: 1) where value > 0 { return }
        }
        try await stream.waitForRequest().send(1)
        try await task.value
        try await spy.waitForEndedRequests(1)
        #expect(spy.events == [.requested(0), .answered(0), .abandoned(0)])
        #expect(spy.requests[0].outcome == nil)
    }

    @Test("A spied stream ends with its error, also if values follow")
    func goingOn() async throws {
        let spy = SpyDataProvider(Stubborn())
        var values = spy.values(for: 1).makeAsyncIterator()
        await #expect(throws: Trouble.first) { try await values.next(isolation: nil) }
        #expect(try await values.next(isolation: nil) == 1)
        #expect(spy.requests[0].isOver)
        #expect(throws: Trouble.first) { try spy.requests[0].outcome?.get() }
        #expect(try await values.next(isolation: nil) == nil)
        #expect(spy.events == [.requested(0), .failed(0), .answered(0)])
    }

    @Test("A spied stream that fails twice ends once")
    func failingAgain() async throws {
        let test = Task {
            try await TestScope.failures {
                let spy = SpyDataProvider(Stubborn())
                var values = spy.values(for: 1).makeAsyncIterator()
                for _ in 0..<4 { _ = try? await values.next(isolation: nil) }
                #expect(spy.events == [.requested(0), .failed(0), .answered(0), .failed(0)])
                try await spy.waitForEndedRequests(1)
                withUnsafeCurrentTask { $0?.cancel() }
                try? await spy.waitForEndedRequests(2)
            }
        }
        #expect(
            try await test.value.map(\.message) == [
                "Expected 2 requests to end, and 1 did until the test was cancelled."
            ])
    }

    /// Fails first, then has a value, then nothing, and fails again.
    private struct Stubborn: StreamDataProvider {
        func values(for input: Int) -> Values { Values(value: input) }

        struct Values: AsyncSequence, AsyncIteratorProtocol, Sendable {
            let value: Int
            var count = 0

            func makeAsyncIterator() -> Self { self }

            mutating func next() async throws -> Int? {
                count += 1
                if count == 1 || count == 4 { throw Trouble.first }
                return count == 2 ? value : nil
            }
        }
    }

    @Test("A spied single answer stays a single answer")
    func single() {
        #expect(!SpyDataProvider(Echo<Int>()).deliversMany)
        #expect(SpyDataProvider(ControlledStreamDataProvider<Int, Int>()).deliversMany)
    }

    @Test("stays on the caller's actor")
    @MainActor
    func isolation() async throws {
        let spy = SpyDataProvider(IsolationProbe())
        #expect(try await spy.request(()))
    }

    private struct IsolationProbe: DataProvider {
        func request(_ input: Void) async throws -> Bool { #isolation === MainActor.shared }
    }
}
