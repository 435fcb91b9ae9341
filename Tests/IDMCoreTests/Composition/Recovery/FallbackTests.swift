import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

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

    @Test("is asked when a stream ends without a value, and is to give one then")
    func noValue() async throws {
        let provider = Listed().fallback(to: Listed(1, 2))
        #expect(try await provider.request(1) == 3)
        #expect(await collect(provider, 1).values == [2, 3])
        let (values, error) = await collect(Listed(1, error: Trouble.first).fallback(to: Listed()), 1)
        #expect(values == [2])
        #expect(error as? DataProviderError == .noAnswer)
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
