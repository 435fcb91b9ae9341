import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite("Transforms", .timeLimit(.ample))
struct TransformTests {
    @Test("map changes the output, mapInput the input, also when they wait")
    func maps() async throws {
        let provider = Doubler().map { "\($0)" }.mapInput { (text: String) in text.count }
        #expect(try await provider.request("abc") == "6")
        let waiting = Doubler().map { try await Doubler().request($0) }
        #expect(try await waiting.request(1) == 4)
    }

    @Test("An error of a transform fails the request")
    func errors() async throws {
        await #expect(throws: Trouble.first) {
            try await Doubler().map { _ -> Int in throw Trouble.first }.request(1)
        }
        let provider = FailingAtFirst(0)
        await #expect(throws: Trouble.first) {
            try await provider.mapInput { (_: Int) in throw Trouble.first }.request(1)
        }
        #expect(provider.count == 0)
    }

    @Test("mapError changes the error")
    func mapError() async throws {
        await #expect(throws: Trouble.second) {
            try await Failing(Trouble.first).mapError { _ in Trouble.second }.request(1)
        }
        #expect(try await Doubler().mapError { _ in Trouble.second }.request(1) == 2)
    }

    @Test(
        "mapError, fallback and retry never see a cancellation",
        arguments: [CancellationError(), IntegrationError.cancelled(.superseded)] as [any Error])
    func cancellationsPass(error: any Error) async throws {
        let log = Log()
        let expected = CancelReason(error)
        let other = FailingAtFirst(0)
        let failing = Failing(error)
        let mapped = failing.mapError { _ in
            log.add("mapError")
            return Trouble.first
        }
        let retried = failing.retry(3) { _ in
            log.add("when")
            return true
        }
        let composed: [any DataProvider<Int, Int>] = [mapped, retried, failing.fallback(to: other)]
        for provider in composed {
            let thrown = await #expect(throws: (any Error).self) { try await provider.request(1) }
            #expect(thrown.flatMap { CancelReason($0) } == expected)
            let fromValues = await collect(AnyDataProvider(provider), 1).error
            #expect(fromValues.flatMap { CancelReason($0) } == expected)
        }
        #expect(log.entries.isEmpty)
        #expect(other.count == 0)
    }

    @Test("A stream stays a stream through every transform")
    func streams() async throws {
        let stream = Listed(1, 2).map { $0 * 10 }.mapInput { (text: String) in text.count }.mapError { $0 }
        #expect(stream.deliversMany)
        #expect(await collect(stream, "").values == [10, 20])
        #expect(try await stream.request("") == 20)
        let models = Listed(1, 2).model(Text.self)
        #expect(models.deliversMany)
        #expect(await collect(models, 0).values == [try Text(from: 1), try Text(from: 2)])
        let failing = Listed(1, error: Trouble.first).mapError { _ in Trouble.second }
        let result = await collect(failing, 0)
        #expect(result.values == [1])
        #expect(result.error as? Trouble == .second)
    }

    @Test("A single provider stays single through every transform")
    func singles() async {
        let single = Doubler().map { $0 }.mapInput { $0 as Int }.mapError { $0 }.fallback(to: Doubler()).retry(1)
            .timeout(.seconds(1)).delay(.zero).attached(Doubler()).model(Text.self)
        #expect(!single.deliversMany)
        #expect(single.stream == nil)
        #expect(await collect(single, 1).values.count == 1)
    }
}

@Suite("Fallback", .timeLimit(.ample))
struct FallbackTests {
    @Test("isn't asked when the provider answers")
    func unused() async throws {
        let other = FailingAtFirst(0)
        #expect(try await Doubler().fallback(to: other).request(1) == 2)
        #expect(other.count == 0)
    }

    @Test("is asked with the same input when the provider fails")
    func used() async throws {
        #expect(try await Failing(Trouble.first).fallback(to: Doubler()).request(4) == 8)
    }

    @Test("fails with its own error when both fail")
    func bothFail() async throws {
        let provider = Failing(Trouble.first).fallback(to: Failing(Trouble.second))
        await #expect(throws: Trouble.second) { try await provider.request(1) }
        #expect(await collect(provider, 1).error as? Trouble == .second)
    }

    @Test("follows the values of a stream that fails, at any time")
    func streams() async {
        let late = Listed(1, 2, error: Trouble.first).fallback(to: Listed(8, 9))
        #expect(await collect(late, 0).values == [1, 2, 8, 9])
        let early = Listed(error: Trouble.first).fallback(to: Doubler())
        #expect(early.deliversMany)
        #expect(await collect(early, 4).values == [8])
        #expect(Failing(Trouble.first).fallback(to: Listed(1)).deliversMany)
    }

    @Test("isn't asked by a cancelled task, whatever the provider throws")
    func cancelled() async throws {
        let provider = ControlledDataProvider<Int, Int>(hearsCancel: false)
        let other = FailingAtFirst(0)
        let task = Task { try await provider.fallback(to: other).request(1) }
        let request = try await provider.nextRequest()
        task.cancel()
        request.fail(Trouble.first)
        await #expect(throws: Trouble.first) { try await task.value }
        #expect(other.count == 0)
    }

    @Test("is cancelled with the request")
    func cancelsOther() async throws {
        let other = ControlledDataProvider<Int, Int>()
        let task = Task { try await Failing(Trouble.first).fallback(to: other).request(1) }
        let request = try await other.nextRequest()
        task.cancel()
        try await request.cancelled()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

@Suite("Merging", .timeLimit(.ample))
struct MergeTests {
    @Test("delivers one provider's value, then the other's; the last one is the answer to a request")
    func order() async throws {
        let merged = Doubler().merged(with: ValueDataProvider(9))
        #expect(merged.deliversMany)
        #expect(await collect(merged, 1).values == [2, 9])
        #expect(try await merged.request(1) == 9)
    }

    @Test("delivers all values of streams")
    func streams() async {
        #expect(await collect(Listed(1, 2).merged(with: Listed(3, 4)), 0).values == [1, 2, 3, 4])
    }

    @Test("asks the other one only after the first one's last value was taken")
    func lazily() async throws {
        let other = FailingAtFirst(0)
        var values = Doubler().merged(with: other).values(for: 1).makeAsyncIterator()
        #expect(try await values.next() == 2)
        #expect(other.count == 0)
        #expect(try await values.next() == 1)
        #expect(try await values.next() == nil)
        #expect(try await values.next() == nil)
        #expect(other.count == 1)
    }

    @Test("ends with the first failure")
    func failure() async {
        let other = FailingAtFirst(0)
        let result = await collect(Failing(Trouble.first).merged(with: other), 1)
        #expect(result.values.isEmpty)
        #expect(result.error as? Trouble == .first)
        #expect(other.count == 0)
    }
}

@Suite("An attached provider", .timeLimit(.ample))
struct AttachTests {
    @Test("gets the same input, and can't affect the result, its time or its errors")
    func beside() async throws {
        let side = ControlledDataProvider<Int, String>()
        let provider = Doubler().attached(side)
        #expect(try await provider.request(2) == 4)
        let request = try await side.nextRequest()
        #expect(request.input == 2)
        // The result is there; the side provider is left to run.
        #expect(!request.isCancelled)
        request.fail(Trouble.first)
        try await request.ended()
    }

    @Test("that fails leaves the provider alone")
    func failing() async throws {
        #expect(try await Doubler().attached(Failing(Trouble.first)).request(2) == 4)
    }

    @Test("is asked also when the provider fails, and runs on")
    func providerFails() async throws {
        let side = ControlledDataProvider<Int, String>()
        await #expect(throws: Trouble.first) {
            try await Failing(Trouble.first).attached(side).request(2)
        }
        #expect(try await !side.nextRequest().isCancelled)
    }

    @Test("is cancelled when the request is cancelled")
    func cancel() async throws {
        let (main, side) = (ControlledDataProvider<Int, Int>(), ControlledDataProvider<Int, String>())
        let task = Task { try await main.attached(side).request(2) }
        let (one, two) = (try await main.nextRequest(), try await side.nextRequest())
        task.cancel()
        try await one.cancelled()
        try await two.cancelled()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("is asked once for a stream, and the stream stays one")
    func stream() async throws {
        let side = ControlledDataProvider<Int, Int>()
        let provider = Listed(1, 2).attached(side)
        #expect(provider.deliversMany)
        #expect(await collect(provider, 0).values == [1, 2])
        _ = try await side.nextRequest()
        #expect(side.requestCount == 1)
    }

    @Test("isn't heard in the progress")
    func progress() async throws {
        let log = ProgressLog()
        let side = ControlledDataProvider<Int, Int>()
        _ = try await log.reporter.ambient { try await Doubler().attached(side).request(1) }
        #expect(try await side.nextRequest().reporter == nil)
        #expect(log.fractions.isEmpty)
    }
}
