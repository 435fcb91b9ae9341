import IDMTesting
import TestSupport
import Testing

/// On the main actor: a cancelled task resumes in a later turn, after the next step of the test.
@Suite("A gate of a test", .timeLimit(.ample))
@MainActor
struct TestGateTests {
    private let gate = TestGate()
    private let log = Log()

    /// Comes to the gate, and returns when it waits there.
    private func arrive(as name: String, _ place: Int) async throws -> Task<Void, any Error> {
        let task = Task {
            try await gate.pass()
            log.add(name)
        }
        try await gate.waitForTasks(place)
        return task
    }

    @Test("A closed gate holds tasks until it opens")
    func opens() async throws {
        let tasks = [try await arrive(as: "a", 1), try await arrive(as: "b", 2)]
        #expect(log.entries == [])
        gate.open()
        for task in tasks { try await task.value }
        #expect(log.entries.sorted() == ["a", "b"])
        for _ in 0..<3 { try await gate.pass() }
    }

    @Test("A gate admits a number of tasks in the order of arrival")
    func opensForSome() async throws {
        let tasks = [try await arrive(as: "a", 1), try await arrive(as: "b", 2), try await arrive(as: "c", 3)]
        gate.open(for: 1)
        try await tasks[0].value
        #expect(log.entries == ["a"])
        gate.open(for: 2)
        // Both may go on now, and which of them does so first is not the gate's.
        for task in tasks { try await task.value }
        #expect(log.entries.sorted() == ["a", "b", "c"])
    }

    @Test("A gate keeps unused admissions for later tasks")
    func credit() async throws {
        let first = try await arrive(as: "a", 1)
        gate.open(for: 3)
        try await first.value
        for _ in 0..<2 { try await gate.pass() }
        let last = try await arrive(as: "b", 1)
        #expect(log.entries == ["a"])
        gate.open()
        try await last.value
    }

    @Test("A gate opened for zero tasks admits no task", arguments: [0, -1])
    func none(count: Int) async throws {
        let task = try await arrive(as: "a", 1)
        gate.open(for: count)
        try await gate.waitForTasks(1)
        gate.open(for: 1)
        try await task.value
        let next = try await arrive(as: "b", 1)
        #expect(log.entries == ["a"])
        gate.open()
        try await next.value
    }

    @Test("A task that is cancelled at a gate throws and isn't counted")
    func cancelled() async throws {
        let (first, second) = (try await arrive(as: "a", 1), try await arrive(as: "b", 2))
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let third = try await arrive(as: "c", 2)
        gate.open(for: 1)
        try await second.value
        #expect(log.entries == ["b"])
        gate.open()
        try await third.value
    }

    @Test("The admission of a cancelled task goes to the next task")
    func cancelledAndAdmitted() async throws {
        let (first, second) = (try await arrive(as: "a", 1), try await arrive(as: "b", 2))
        first.cancel()
        // It hasn't gone yet: this turn is still the test's.
        gate.open(for: 1)
        await #expect(throws: CancellationError.self) { try await first.value }
        try await second.value
        #expect(log.entries == ["b"])
    }

    @Test("The admission of a cancelled task is kept for a later task")
    func cancelledAlone() async throws {
        let first = try await arrive(as: "a", 1)
        first.cancel()
        gate.open(for: 1)
        await #expect(throws: CancellationError.self) { try await first.value }
        try await gate.pass()
    }

    @Test("A gate admits no task that arrives cancelled")
    func comesCancelled() async throws {
        gate.open(for: 1)
        let late = Task { try await gate.pass() }
        late.cancel()
        await #expect(throws: CancellationError.self) { try await late.value }
        try await gate.pass()
        gate.open()
        let later = Task { try await gate.pass() }
        later.cancel()
        await #expect(throws: CancellationError.self) { try await later.value }
    }

    @Test("A cancelled wait for arrivals at a gate throws")
    func waitingCancelled() async throws {
        let clock = ManualClock()
        let waiting = Task(executorPreference: clock.executor) { [gate] in try await gate.waitForTasks(1) }
        await clock.run()
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test("A gate takes the greatest number of admissions repeatedly")
    func most() async throws {
        let first = try await arrive(as: "a", 1)
        for _ in 0..<2 { gate.open(for: .max) }
        try await first.value
        for _ in 0..<3 { try await gate.pass() }
    }
}
