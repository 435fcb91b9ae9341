import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite(.timeLimit(.ample))
struct EachDataProviderTests {
    private let provider = ControlledDataProvider<Int, Int>()

    @Test func `the outputs are in the order of the inputs`() async throws {
        let task = Task { [provider] in try await provider.each().request([1, 2, 3]) }
        var requests: [ControlledRequest<Int, Int>] = []
        for _ in 0..<3 { requests.append(try await provider.waitForRequest()) }

        for request in requests.reversed() { request.answer(request.input * 10) }

        #expect(try await task.value == [10, 20, 30])
    }

    @Test(arguments: [(-3, 1), (0, 1), (2, 2)])
    func `no more requests run at once than the limit, which is at least one`(limit: Int, expected: Int) async throws {
        let task = Task { [provider] in try await provider.each(limit: limit).request([0, 1, 2, 3]) }
        var (running, counts): ([ControlledRequest<Int, Int>], [Int]) = ([], [])
        for _ in 0..<4 {
            running.append(try await provider.waitForRequest())
            guard running.count == expected else { continue }
            counts.append(provider.requestCount)
            let oldest = running.removeFirst()
            oldest.answer(oldest.input)
        }
        for request in running { request.answer(request.input) }

        #expect(try await task.value == [0, 1, 2, 3])
        #expect(counts == Array(expected...4))
    }

    @Test func `a failure cancels running requests and prevents further ones`() async throws {
        let task = Task { [provider] in try await provider.each(limit: 2).request([0, 1, 2, 3]) }
        let (one, two) = (try await provider.waitForRequest(), try await provider.waitForRequest())

        one.fail(Trouble.first)

        try await two.waitUntilCancelled()
        await #expect(throws: Trouble.first) { try await task.value }
        #expect(provider.requestCount == 2)
    }

    @Test(arguments: [2, .max]) @MainActor
    func `a failure in the caller's turn prevents further requests`(limit: Int) async {
        let provider = FailingAtFirst(.max)

        await #expect(throws: Trouble.first) { try await provider.each(limit: limit).request([0, 1, 2, 3]) }
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { #expect(provider.count == 1) }
    }

    @Test func `each makes no request after a cancel that its provider ignores`() async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: false)
        let task = Task { try await provider.each(limit: 1).request([1, 2, 3]) }
        let first = try await provider.waitForRequest()

        task.cancel()
        first.answer(1)

        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(provider.requestCount == 1)
    }

    /// Fails for one input, and hangs until it is cancelled for all others.
    private struct FailsForOne: DataProvider {
        let failing: Int

        func request(_ input: Int) async throws -> Int {
            if input == failing { throw Trouble.first }
            try await Signal().wait()
            return input
        }
    }

    @Test func `one failure among fifty thousand requests that hang ends all in linear time`() async throws {
        var times: [Duration] = []
        for count in [3_125, 3_125, 50_000] {
            let provider = FailsForOne(failing: count / 2).each()
            let start = ContinuousClock.now
            await #expect(throws: Trouble.first) { try await provider.request(Array(0..<count)) }
            times.append(ContinuousClock.now - start)
        }

        // 16 times as many requests: in quadratic time they would take 256 times as long.
        #expect(times[2] < max(times[0], times[1]) * 100)
    }
}
