import IDMCore
@testable import IDMTesting
import TestSupport
import Testing

@Suite("A line of tasks", .inScope, .timeLimit(.ample))
struct LineTests {
    private let clock = ManualClock()
    private let line = TurnQueue()
    private let log = Log()

    /// Enters the line, logs its turn, and stays until the gate opens.
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

    @Test("A line of tasks gives turns in the order of arrival")
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

    @Test("A cancelled task in a line runs at once, and later tasks wait")
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
