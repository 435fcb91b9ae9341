import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("Rule 10: a queue starts its calls in call order", .inScope, .timeLimit(.ample))
@MainActor
struct Rule10QueueTests {
    private let log = Log()
    private let provider = ControlledDataProvider<Int, Int>()

    /// Answers the next requests with their inputs, which it returns.
    private func answer(_ count: Int) async throws -> [Int] {
        var inputs: [Int] = []
        for _ in 0..<count {
            let request = try await provider.waitForRequest()
            inputs.append(request.input)
            request.answer(request.input)
        }
        return inputs
    }

    @Test(arguments: 1...4)
    func `a queue runs as many calls as its width, in call order`(width: Int) async throws {
        let integrator = Integrator(provider, executing: .queue(width: width))
        let tasks = (0..<12).map { integrator.prepareCall($0).call() }
        var generator = SplitMix(seed: UInt64(width))
        var running: [ControlledRequest<Int, Int>] = []
        var counts: Set<Int> = []
        for input in 0..<12 {
            let request = try await provider.waitForRequest()
            running.append(request)
            try #require(request.input == input)
            guard running.count == width else { continue }
            counts.insert(provider.requestCount - input - 1)
            let ended = running.remove(at: Int.random(in: 0..<width, using: &generator))
            ended.answer(ended.input)
            await tasks[ended.input].finish()
        }
        for request in running { request.answer(request.input) }
        for task in tasks { await task.finish() }

        #expect(counts == [0])
    }

    @Test func `a call beyond the limit is ignored until a waiting call is cancelled`() async throws {
        let integrator = Integrator(provider, executing: .queue(limit: 2))
        let tasks = (0..<4).map { integrator.prepareCall($0).call() }
        #expect(await tasks[3].outcome == .cancelled(.ignored))

        tasks[1].cancel()
        let late = integrator.prepareCall(5).call()

        #expect(try await answer(3) == [0, 2, 5])
        #expect(await late.outcome == .success(5))
    }

    @Test(arguments: [0, -1, Int.min])
    func `a width below one is one, and a limit below zero is zero`(count: Int) async throws {
        let integrator = Integrator(provider, executing: .queue(width: count, limit: count))
        let first = integrator.prepareCall(1).call()

        #expect(await integrator.prepareCall(2).call().outcome == .cancelled(.ignored))
        #expect(try await answer(1) == [1])
        await first.finish()
    }

    // MARK: Ends that must not stall it

    @Test(arguments: 0..<5)
    func `a cancelled call anywhere in the queue does not stall it`(index: Int) async throws {
        let integrator = Integrator(provider, executing: .queue)
        let tasks = (0..<5).map { number in
            let call = integrator.prepareCall(number)
            return (number == index ? call.recorded(in: log) : call).call()
        }
        let first = try await provider.waitForRequest()

        tasks[index].cancel()
        await tasks[index].finish()
        if index != 0 { first.answer(0) }

        let rest = (1..<5).filter { $0 != index }
        #expect(try await answer(rest.count) == rest)
        #expect(log.entries == (index == 0 ? ["begin", "cancel cancelled", "completion"] : ["cancel cancelled"]))
        for task in tasks { await task.finish() }
    }

    @Test func `cancelling ten thousand calls from the middle keeps first and last`() async throws {
        let integrator = Integrator(provider, executing: .queue)
        let tasks = (0..<10_000).map { integrator.prepareCall($0).call() }
        for index in 1..<9_999 { tasks[(index * 7_919) % 9_998 + 1].cancel() }

        #expect(try await answer(2) == [0, 9_999])
        #expect(await tasks[9_999].outcome == .success(9_999))
    }
}
