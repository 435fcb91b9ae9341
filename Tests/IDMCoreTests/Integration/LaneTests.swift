import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("Lanes", .timeLimit(.ample))
struct LaneTests {
    private struct Query: Sendable {
        let lane: String
        let number: Int
    }

    private let provider = ControlledDataProvider<Query, Int>()

    private func integrator(_ type: ExecutingType) -> Integrator<Query, Int> {
        Integrator(provider, executing: type, lane: { $0.lane })
    }

    @Test(".only ignores calls of its own lane alone")
    func only() async throws {
        let integrator = integrator(.only)
        let first = integrator.prepareCall(Query(lane: "a", number: 1)).call()
        let second = integrator.prepareCall(Query(lane: "b", number: 2)).call()
        let third = integrator.prepareCall(Query(lane: "a", number: 3)).call()
        #expect(await third.outcome == .cancelled(.ignored))
        for _ in 1...2 {
            let request = try await provider.waitForRequest()
            request.answer(request.input.number)
        }
        #expect(await first.outcome == .success(1))
        #expect(await second.outcome == .success(2))
    }

    @Test(".latest supersedes calls of its own lane alone")
    func latest() async throws {
        let integrator = integrator(.latest)
        let tasks = [("a", 1), ("b", 2), ("a", 3)].map { integrator.prepareCall(Query(lane: $0, number: $1)).call() }
        #expect(await tasks[0].outcome == .cancelled(.superseded))
        var answered: Set<Int> = []
        while !answered.isSuperset(of: [2, 3]) {
            let request = try await provider.waitForRequest()
            request.answer(request.input.number)
            answered.insert(request.input.number)
        }
        #expect(await tasks[1].outcome == .success(2))
        #expect(await tasks[2].outcome == .success(3))
    }

    @Test("Each lane is a queue of its own")
    func queue() async throws {
        let integrator = integrator(.queue)
        let tasks = (0..<6).map { integrator.prepareCall(Query(lane: $0 % 2 == 0 ? "a" : "b", number: $0)).call() }
        var last = ["a": -1, "b": -1]
        var running: [ControlledRequest<Query, Int>] = []
        for _ in tasks {
            let request = try await provider.waitForRequest()
            #expect(last[request.input.lane] ?? 0 < request.input.number)
            last[request.input.lane] = request.input.number
            running.append(request)
            // Two lanes, one call in each.
            if running.count == 2 {
                let first = running.removeFirst()
                first.answer(first.input.number)
                await tasks[first.input.number].finish()
            }
        }
        for request in running { request.answer(request.input.number) }
        for (index, task) in tasks.enumerated() { #expect(await task.outcome == .success(index)) }
    }

    @Test("The key is asked for once a call, inside call()")
    func askedOnce() async {
        let log = Log()
        let integrator = Integrator(Echo<Int>(), executing: .only) { input in
            log.add("\(input)")
            return input
        }
        let call = integrator.prepareCall(1)
        #expect(log.entries == [])
        let task = call.call()
        #expect(log.entries == ["1"])
        await task.finish()
        #expect(log.entries == ["1"])
    }

    @Test("Cancelling the integrator reaches the calls of all lanes, those that wait among them")
    func cancel() async {
        let integrator = integrator(.queue)
        let tasks = (0..<20).map { integrator.prepareCall(Query(lane: "\($0 % 5)", number: $0)).call() }
        integrator.cancel()
        for task in tasks { #expect(await task.outcome == .cancelled(.cancelled)) }
    }

    @Test("Keys of different types in one integrator are told apart")
    func keysOfManyTypes() async throws {
        let integrator = Integrator(ControlledDataProvider<Int, Int>(), executing: .only) {
            input -> any Hashable & Sendable in
            input % 2 == 0 ? "\(input / 2)" : input / 2
        }
        let first = integrator.prepareCall(2).call()
        let second = integrator.prepareCall(3).call()
        #expect(await integrator.prepareCall(2).call().outcome == .cancelled(.ignored))
        #expect(await integrator.prepareCall(3).call().outcome == .cancelled(.ignored))
        first.cancel()
        second.cancel()
    }

    @Test("A lane whose calls have all ended starts afresh")
    func afresh() async {
        let integrator = Integrator(FailsBelowZero(), executing: .queue(limit: 0), lane: { abs($0) })
        for _ in 1...3 {
            #expect(await integrator.prepareCall(1).call().outcome == .success(1))
            #expect(await integrator.prepareCall(-1).call().outcome.error as? Trouble == .numbered(-1))
        }
    }
}
