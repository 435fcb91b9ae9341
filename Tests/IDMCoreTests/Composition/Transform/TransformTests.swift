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

    @Test("mapError hears of a stream that ends without a value, by a request and value by value")
    func noValue() async throws {
        let provider = Listed().mapError { $0 as? DataProviderError == .noAnswer ? Trouble.second : $0 }
        await #expect(throws: Trouble.second) { try await provider.request(1) }
        #expect(await collect(provider, 1).error as? Trouble == .second)
        #expect(await collect(Listed(1).mapError { _ in Trouble.second }, 1).error == nil)
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
            .timeout(.seconds(1), clock: ManualClock()).delay(.zero).attached(Doubler()).model(Text.self)
        #expect(!single.deliversMany)
        #expect(single.stream == nil)
        #expect(await collect(single, 1).values.count == 1)
    }
}
