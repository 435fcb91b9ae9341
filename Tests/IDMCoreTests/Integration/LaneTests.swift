import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite(.timeLimit(.ample))
struct LaneTests {
    @Test func `the lane closure is called once per call, inside call()`() async {
        let log = Log()
        let integrator = Integrator(Echo<Int>(), executing: .only) { input in
            log.add("\(input)")
            return input
        }
        let call = integrator.prepareCall(1)
        var counts = [log.count]
        let task = call.call()
        counts.append(log.count)
        await task.finish()

        #expect(counts + [log.count] == [0, 1, 1])
    }

    @Test func `cancelling the integrator reaches running and waiting calls of all lanes`() async {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: .queue, lane: { $0 % 2 })
        let tasks = (0..<20).map { integrator.prepareCall($0).call() }
        integrator.cancel()
        var outcomes: [IntegrationOutcome<Int>] = []
        for task in tasks { outcomes.append(await task.outcome) }

        #expect(outcomes.allSatisfy { $0 == .cancelled(.cancelled) })
    }
}
