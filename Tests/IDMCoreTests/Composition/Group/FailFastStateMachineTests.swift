import TestSupport
import Testing

@testable import IDMCore

/// Every order of events of a group of three, against a model.
@Suite(.timeLimit(.ample))
struct FailFastStateMachineTests {
    private struct NumberedTask: CancellableTask {
        let number: Int
        func cancel() {}
    }

    private enum Event: CaseIterable { case add, await, end, fail, cancel }

    private struct World {
        var machine = FailFastStateMachine(count: 3)
        var isAdded = false
        var isAwaited = false
        var isClosed = false
        var failure: Int?
        var endCount = 0

        /// Performs an event, and returns what the machine did wrong.
        mutating func perform(_ event: Event, _ step: Int) -> [String] {
            switch event {
            case .add:
                guard !isAdded else { return [] }
                isAdded = true
                return check(machine.add((0..<3).map(NumberedTask.init)) == isClosed, "add")
            case .await:
                guard isAdded else { return [] }
                machine.await()
                isAwaited = endCount < 3
                return check(machine.isAwaited == isAwaited, "await")
            case .end:
                return end()
            case .fail:
                guard endCount < 3 else { return [] }
                let faults = end()
                failure = failure ?? step
                return faults + close(machine.fail(Trouble.numbered(step)), "fail")
            case .cancel:
                return close(machine.cancel(), "cancel")
            }
        }

        private mutating func end() -> [String] {
            guard endCount < 3 else { return [] }
            endCount += 1
            return check(machine.end() == (isAwaited && endCount == 3), "end")
        }

        private mutating func close(_ tasks: [any CancellableTask], _ name: String) -> [String] {
            let expected = isAdded && !isClosed ? [0, 1, 2] : []
            isClosed = true
            return check(tasks.compactMap { ($0 as? NumberedTask)?.number } == expected, name)
                + check(!machine.isOpen && (machine.failure as? Trouble) == failure.map(Trouble.numbered), "failure")
        }

        private func check(_ isRight: Bool, _ name: String) -> [String] { isRight ? [] : [name] }
    }

    @Test func `the first failure or cancel returns the tasks once, in every order of events`() {
        var faults: Set<String> = []
        func explore(_ world: World, _ step: Int) {
            guard step < 7 else { return }
            for event in Event.allCases {
                var next = world
                faults.formUnion(next.perform(event, step))
                explore(next, step + 1)
            }
        }
        explore(World(), 0)
        #expect(faults.isEmpty)
    }
}
