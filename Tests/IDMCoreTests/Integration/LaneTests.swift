import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite(.timeLimit(.ample))
struct LaneTests {
    private let provider = ControlledDataProvider<Int, Int>()

    /// An integrator with two lanes, for even and odd inputs.
    private func integrator(_ type: ExecutingType) -> Integrator<Int, Int> {
        Integrator(provider, executing: type, lane: { $0 % 2 })
    }

    private static let reasons: [(ExecutingType, [CancelReason?])] = [
        (.only, [nil, nil, .ignored, .ignored]), (.latest, [.superseded, .superseded, nil, nil]),
    ]

    @Test(arguments: reasons)
    func `an executing type applies within each lane`(type: ExecutingType, reasons: [CancelReason?]) async throws {
        let integrator = integrator(type)
        let tasks = (0..<4).map { integrator.prepareCall($0).call() }
        let answering = Task {
            while true {
                let request = try await provider.waitForRequest()
                request.answer(request.input)
            }
        }
        var found: [CancelReason?] = []
        for task in tasks { found.append(await task.outcome.cancelReason) }
        answering.cancel()

        #expect(found == reasons)
    }

    @Test func `each lane is a queue of its own`() async throws {
        let integrator = integrator(.queue)
        let tasks = (0..<6).map { integrator.prepareCall($0).call() }
        var orders: [[Int]] = [[], []]
        for _ in 0..<3 {
            // One call of each lane runs.
            for request in [try await provider.waitForRequest(), try await provider.waitForRequest()] {
                orders[request.input % 2].append(request.input)
                request.answer(request.input)
            }
        }
        for task in tasks { await task.finish() }

        #expect(orders == [[0, 2, 4], [1, 3, 5]])
    }

    @Test func `the lane closure is called once per call, inside call()`() async {
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

    @Test func `cancelling the integrator reaches running and waiting calls of all lanes`() async {
        let integrator = integrator(.queue)
        let tasks = (0..<20).map { integrator.prepareCall($0).call() }
        integrator.cancel()
        var outcomes: [IntegrationOutcome<Int>] = []
        for task in tasks { outcomes.append(await task.outcome) }

        #expect(outcomes.allSatisfy { $0 == .cancelled(.cancelled) })
    }

    @Test func `a lane whose calls have ended is free again`() async {
        let integrator = Integrator(FailsBelowZero(), executing: .queue(limit: 0), lane: { abs($0) })
        var outcomes: [CancelReason?] = []
        for input in [1, -1, 1, -1] {
            let task = integrator.prepareCall(input).call()
            await task.finish()
            outcomes.append(await task.outcome.cancelReason)
        }

        #expect(outcomes == [nil, nil, nil, nil])
    }
}
