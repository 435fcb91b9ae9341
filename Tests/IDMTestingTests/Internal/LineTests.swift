import IDMCore
@testable import IDMTesting
import TestSupport
import Testing

@Suite("A line of tasks", .inScope, .timeLimit(.ample))
struct LineTests {
    private let clock = ManualClock()
    private let line = Line()
    private let log = Log()

    /// Who comes into the line, says when the turn has come, and stays until the gate lets it.
    private func arrive(as name: String, staying gate: TestGate? = nil) async -> Task<Void, Never> {
        let task = Task(executorPreference: clock.executor) { [line, log] in
            await line.inTurn {
                log.add(name)
                try? await gate?.pass()
            }
        }
        await clock.run()
        return task
    }

    @Test("gives one after the other a turn, in the order in which they came")
    func order() async {
        let gate = TestGate()
        #expect(line.isEmpty)
        let first = await arrive(as: "a", staying: gate)
        let others = [await arrive(as: "b"), await arrive(as: "c")]
        #expect(log.entries == ["a"])
        #expect(!line.isEmpty)
        gate.open()
        for task in [first] + others { await task.value }
        #expect(log.entries == ["a", "b", "c"])
        #expect(line.isEmpty)
    }

    @Test("lets one that is cancelled go on at once, and the others wait")
    func cancelled() async {
        let gate = TestGate()
        let first = await arrive(as: "a", staying: gate)
        let second = await arrive(as: "b")
        let third = await arrive(as: "c")
        second.cancel()
        await second.value
        await clock.run()
        #expect(log.entries == ["a", "b"])
        gate.open()
        for task in [first, third] { await task.value }
        #expect(log.entries == ["a", "b", "c"])
        #expect(line.isEmpty)
    }
}
