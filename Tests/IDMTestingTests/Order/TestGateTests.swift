import IDMTesting
import TestSupport
import Testing

/// On the main actor: whoever is cancelled there goes on in a later turn, so what the test does next comes before that.
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
        try await gate.waiting(place)
        return task
    }

    @Test("lets nobody through while it is closed, and everybody once it is open")
    func opens() async throws {
        let tasks = [try await arrive(as: "a", 1), try await arrive(as: "b", 2)]
        #expect(log.entries == [])
        gate.open()
        for task in tasks { try await task.value }
        #expect(log.entries.sorted() == ["a", "b"])
        for _ in 0..<3 { try await gate.pass() }
    }

    @Test("lets so many through as it is told, the first ones first")
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

    @Test("keeps what it isn't asked for yet for those who come later")
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

    @Test("lets nobody through for none, or for less", arguments: [0, -1])
    func none(count: Int) async throws {
        let task = try await arrive(as: "a", 1)
        gate.open(for: count)
        try await gate.waiting(1)
        gate.open(for: 1)
        try await task.value
        let next = try await arrive(as: "b", 1)
        #expect(log.entries == ["a"])
        gate.open()
        try await next.value
    }

    @Test("throws for a waiter that is cancelled, and no longer counts it")
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

    @Test("hands on the place of a waiter that was cancelled before it could use it")
    func cancelledAndAdmitted() async throws {
        let (first, second) = (try await arrive(as: "a", 1), try await arrive(as: "b", 2))
        first.cancel()
        // It hasn't gone yet: this turn is still the test's.
        gate.open(for: 1)
        await #expect(throws: CancellationError.self) { try await first.value }
        try await second.value
        #expect(log.entries == ["b"])
    }

    @Test("keeps the place of a waiter that was cancelled for whoever comes next")
    func cancelledAlone() async throws {
        let first = try await arrive(as: "a", 1)
        first.cancel()
        gate.open(for: 1)
        await #expect(throws: CancellationError.self) { try await first.value }
        try await gate.pass()
    }

    @Test("gives nothing to a task that comes cancelled")
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

    @Test("throws for a task that is cancelled while it waits for others to come")
    func waitingCancelled() async throws {
        let clock = ManualClock()
        let waiting = Task(executorPreference: clock.executor) { [gate] in try await gate.waiting(1) }
        await clock.run()
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test("takes as many as there can be, more than once")
    func most() async throws {
        let first = try await arrive(as: "a", 1)
        for _ in 0..<2 { gate.open(for: .max) }
        try await first.value
        for _ in 0..<3 { try await gate.pass() }
    }
}
