/// A gate that the test opens: whoever comes to it waits.
///
/// ```swift
/// let gate = TestGate()
/// server.on(.get, "/slow", answer: .text("at last").waiting(for: gate))
/// let task = Task { try await service.request(ServiceRequest(.get, "/slow")) }
/// try await gate.waiting(1)
/// gate.open()
/// #expect(try await task.value.status == 200)
/// ```
///
/// Those who wait are let through in the order in which they came. Good on any thread.
public final class TestGate: Sendable {
    private struct State {
        var isOpen = false
        /// How many more may pass without waiting.
        var credit = 0
        /// Those who wait, in the order in which they came.
        var queue: [Int] = []
        var admitted: Set<Int> = []
        var lastTicket = 0
    }

    private let state = Watched(State())

    /// Makes a gate that is closed.
    public init() {}

    /// Opens the gate for good.
    public func open() {
        state.change { $0.isOpen = true }
    }

    /// Lets so many through: those who wait first, and the rest when they come.
    public func open(for count: Int) {
        state.change { state in
            let passing = state.queue.prefix(max(count, 0))
            state.admitted.formUnion(passing)
            state.queue.removeFirst(passing.count)
            state.credit += max(count, 0) - passing.count
        }
    }

    /// Waits until the gate lets the caller through. Throws `CancellationError` if the task that waits is cancelled.
    public func pass() async throws {
        let ticket: Int? = state.change { state in
            if state.isOpen { return nil }
            if state.credit > 0 {
                state.credit -= 1
                return nil
            }
            state.lastTicket += 1
            state.queue.append(state.lastTicket)
            return state.lastTicket
        }
        guard let ticket else { return try Task.checkCancellation() }
        defer {
            state.change { state in
                state.queue.removeAll { $0 == ticket }
                state.admitted.remove(ticket)
            }
        }
        try await state.wait { $0.isOpen || $0.admitted.contains(ticket) }
    }

    /// Waits until so many wait at the gate. Throws `CancellationError` if the task that waits is cancelled.
    public func waiting(_ count: Int) async throws {
        try await state.wait { $0.queue.count >= count }
    }
}
