import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite("Each", .timeLimit(.ample))
struct EachDataProviderTests {
    @Test("keeps the order of the inputs, whatever the order of the answers")
    func order() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let task = Task { try await provider.each().request([1, 2, 3]) }
        var requests: [ControlledRequest<Int, Int>] = []
        for _ in 0..<3 { requests.append(try await provider.nextRequest()) }
        for request in requests.reversed() { request.answer(request.input * 10) }
        #expect(try await task.value == [10, 20, 30])
    }

    @Test("never runs more at once than allowed, and a width below one is one", arguments: [(-3, 1), (0, 1), (2, 2)])
    func width(given: Int, expected: Int) async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let task = Task { try await provider.each(maxConcurrent: given).request([0, 1, 2, 3]) }
        var running: [ControlledRequest<Int, Int>] = []
        for index in 0..<4 {
            running.append(try await provider.nextRequest())
            guard index + 1 >= expected else { continue }
            #expect(provider.requestCount == index + 1)
            let oldest = running.removeFirst()
            oldest.answer(oldest.input)
        }
        for request in running { request.answer(request.input) }
        #expect(try await task.value == [0, 1, 2, 3])
    }

    @Test("of nothing is nothing, and asks nobody")
    func empty() async throws {
        let provider = FailingAtFirst(0)
        #expect(try await provider.each().request([]) == [])
        #expect(provider.count == 0)
    }

    @Test("fails fast: cancels those that run, and asks for no more")
    func failsFast() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let task = Task { try await provider.each(maxConcurrent: 2).request([0, 1, 2, 3]) }
        let (one, two) = (try await provider.nextRequest(), try await provider.nextRequest())
        one.fail(Trouble.first)
        try await two.cancelled()
        await #expect(throws: Trouble.first) { try await task.value }
        #expect(provider.requestCount == 2)
    }

    @Test("asks for no more once one has failed in the turn in which it was asked", arguments: [2, .max])
    @MainActor
    func failsAtOnce(width: Int) async {
        let asked = Log()
        let provider = ClosureDataProvider<Int, Int> { input in
            asked.add("\(input)")
            throw Trouble.first
        }
        await #expect(throws: Trouble.first) { try await provider.each(maxConcurrent: width).request([0, 1, 2, 3]) }
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { #expect(asked.entries == ["0"]) }
    }

    @Test("whose turn comes after a failure ends with that, and isn't asked")
    func failedBefore() async {
        let (provider, failure) = (FailingAtFirst(0), FirstFailure())
        failure.take(Trouble.first)
        failure.take(Trouble.numbered(2))
        await #expect(throws: Trouble.first) { try await provider.each().ask(1, nil, failure) }
        #expect(provider.count == 0)
    }

    @Test("cancels every request when it is cancelled")
    func cancel() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let task = Task { try await provider.each().request([0, 1]) }
        let (one, two) = (try await provider.nextRequest(), try await provider.nextRequest())
        task.cancel()
        try await one.cancelled()
        try await two.cancelled()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("takes ten thousand inputs")
    func many() async throws {
        let inputs = Array(0..<10_000)
        #expect(try await Doubler().each(maxConcurrent: 8).request(inputs) == inputs.map { $0 * 2 })
        #expect(try await Doubler().each().request(inputs) == inputs.map { $0 * 2 })
    }

    @Test("takes the last value of a stream for each input")
    func streams() async throws {
        #expect(try await Listed(1, 2).each().request([10, 20]) == [12, 22])
    }
}
