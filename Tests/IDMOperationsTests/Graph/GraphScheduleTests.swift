import TestSupport
import Testing

@testable import IDMOperations

@Suite("The schedule of a graph", .timeLimit(.ample))
struct GraphScheduleTests {
    private func cycle(in dependencies: [[Int]]) -> [Int]? {
        GraphSchedule(dependencies: dependencies, width: 1).cycle(in: dependencies)
    }

    @Test func `nodes start in the order in which they become ready`() {
        var schedule = GraphSchedule(dependencies: [[], [0], [], [1, 2]], width: .max)
        #expect(schedule.next() == 0)
        #expect(schedule.next() == 2)
        #expect(schedule.next() == nil)
        schedule.end(2, hasSucceeded: true)
        #expect(schedule.next() == nil)
        schedule.end(0, hasSucceeded: true)
        #expect(schedule.next() == 1)
        schedule.end(1, hasSucceeded: true)
        #expect(schedule.next() == 3)
        #expect(!schedule.isOver)
        schedule.end(3, hasSucceeded: true)
        #expect(schedule.isOver)
    }

    @Test func `what depends on a node that has not succeeded is skipped, however deep`() {
        var schedule = GraphSchedule(dependencies: [[], [0], [1], [2], []], width: .max)
        #expect(schedule.next() == 0)
        schedule.end(0, hasSucceeded: false)
        #expect(schedule.skipped == [1, 2, 3])
        #expect(schedule.next() == 4)
        schedule.end(4, hasSucceeded: true)
        #expect(schedule.isOver)
    }

    @Test(arguments: [0, 1, 2, 3]) func `so many run at the same time`(width: Int) {
        var schedule = GraphSchedule(dependencies: Array(repeating: [], count: 5), width: width)
        var running: [Int] = []
        while let node = schedule.next() { running.append(node) }
        #expect(running == Array(0..<max(width, 1)))
        schedule.end(0, hasSucceeded: true)
        #expect(schedule.next() == max(width, 1))
        #expect(schedule.next() == nil)
    }

    @Test func `a paused node doesn't start, and comes back when it is resumed`() {
        var schedule = GraphSchedule(dependencies: [[], [], [0]], width: .max)
        schedule.pause(1)
        schedule.pause(2)
        #expect(schedule.next() == 0)
        #expect(schedule.next() == nil)
        schedule.end(0, hasSucceeded: true)
        #expect(schedule.next() == nil)
        schedule.resume(2)
        schedule.resume(2)
        #expect(schedule.next() == 2)
        schedule.resume(1)
        #expect(schedule.next() == 1)
        #expect(schedule.next() == nil)
    }

    @Test func `a node that is resumed before its turn keeps its place, and a stop skips one that stands aside`() {
        var schedule = GraphSchedule(dependencies: [[], [], []], width: 1)
        for _ in 0..<3 {
            schedule.pause(0)
            schedule.resume(0)
        }
        schedule.pause(1)
        #expect(schedule.next() == 0)
        schedule.end(0, hasSucceeded: true)
        #expect(schedule.next() == 2)
        schedule.end(2, hasSucceeded: true)
        #expect(schedule.next() == nil && !schedule.isOver)
        schedule.stop()
        #expect(schedule.skipped == [1])
        schedule.resume(1)
        #expect(schedule.next() == nil && schedule.isOver)
    }

    @Test func `nothing starts while all is paused, and nothing at all after a stop`() {
        var schedule = GraphSchedule(dependencies: [[], [], [0]], width: 1)
        schedule.pause()
        #expect(schedule.next() == nil)
        schedule.resume()
        #expect(schedule.next() == 0)
        schedule.stop()
        #expect(schedule.skipped == [1, 2])
        schedule.end(0, hasSucceeded: true)
        #expect(schedule.next() == nil)
        #expect(schedule.isOver)
    }

    @Test func `an end of a node that doesn't run changes nothing`() {
        var schedule = GraphSchedule(dependencies: [[], [0]], width: .max)
        schedule.end(0, hasSucceeded: true)
        #expect(schedule.next() == 0)
        schedule.end(0, hasSucceeded: true)
        schedule.end(0, hasSucceeded: false)
        #expect(schedule.skipped.isEmpty)
        #expect(schedule.next() == 1)
    }

    // MARK: Cycles

    @Test func `a graph without a cycle has none`() {
        #expect(cycle(in: []) == nil)
        #expect(cycle(in: [[], [0], [0, 1]]) == nil)
    }

    @Test(arguments: [
        [[0]], [[1], [0]], [[], [0, 3], [1], [2]], [[4], [], [1], [2], [5], [0]],
    ]) func `a cycle is named from a node back to itself`(dependencies: [[Int]]) throws {
        let cycle = try #require(self.cycle(in: dependencies))
        #expect(cycle.count >= 2)
        #expect(cycle.first == cycle.last)
        for (node, before) in zip(cycle, cycle.dropFirst()) { #expect(dependencies[node].contains(before)) }
    }

    /// Every graph of four nodes, with a cycle or without one, is walked in every order in which nodes can end, some of
    /// them badly.
    @Test func `every small graph keeps its order, and comes to its end`() {
        let pairs = (0..<4).flatMap { node in (0..<4).filter { $0 != node }.map { (node, $0) } }
        var acyclic = 0
        for mask in 0..<(1 << pairs.count) {
            var dependencies = Array(repeating: [Int](), count: 4)
            for (bit, pair) in pairs.enumerated() where mask & (1 << bit) != 0 { dependencies[pair.0].append(pair.1) }
            if self.cycle(in: dependencies) != nil { continue }
            acyclic += 1
            for failing in 0..<5 { walk(dependencies, failing: failing, seed: mask) }
        }
        // The number of labelled acyclic graphs of four nodes.
        #expect(acyclic == 543)
    }

    private func walk(_ dependencies: [[Int]], failing: Int, seed: Int) {
        var schedule = GraphSchedule(dependencies: dependencies, width: 2)
        var running: [Int] = []
        var succeeded: Set<Int> = []
        var ended = 0
        while !schedule.isOver {
            while let node = schedule.next() {
                #expect(dependencies[node].allSatisfy { succeeded.contains($0) })
                running.append(node)
            }
            guard !running.isEmpty else {
                Issue.record("The walk of \(dependencies) stalls.")
                return
            }
            #expect(running.count <= 2)
            let node = running.remove(at: (seed + ended) % running.count)
            if node != failing { succeeded.insert(node) }
            schedule.end(node, hasSucceeded: node != failing)
            ended += 1
        }
        #expect(ended + schedule.skipped.count == dependencies.count)
    }
}
