import IDMCore

/// A gate that the test opens: whoever comes to it waits.
///
/// ```swift
/// let gate = TestGate()
/// let provider = StubDataProvider { (id: Int) in
///     try await gate.pass()
///     return "user \(id)"
/// }
/// let task = Integrator(provider).prepareCall(1).call()
/// try await gate.waiting(1)
/// gate.open()
/// #expect(try await task.value == "user 1")
/// ```
///
/// Those who wait are let through in the order in which they came. Of several that are let through at once any may go
/// on first. Good on any thread.
public final class TestGate: Sendable {
    private struct State {
        var isOpen = false
        /// How many more may pass without waiting.
        var credit = 0
        /// Those who wait, in the order in which they came.
        var queue: [Int] = []
        var admitted: Set<Int> = []
        var lastTicket = 0

        mutating func admit(_ count: Int) {
            let passing = queue.prefix(count)
            admitted.formUnion(passing)
            queue.removeFirst(passing.count)
            credit = credit.addingSaturating(count - passing.count)
        }

        /// A waiter goes away. If it was let through and doesn't pass, the next one does.
        mutating func leave(_ ticket: Int, hasPassed: Bool) {
            queue.removeAll { $0 == ticket }
            if admitted.remove(ticket) != nil, !hasPassed { admit(1) }
        }
    }

    private let state = Watched(State())
    private let ledger = FailureLedger.current

    /// Makes a gate that is closed.
    public init() {}

    /// Opens the gate for good.
    public func open() {
        state.change { $0.isOpen = true }
    }

    /// Lets so many through: those who wait first, and the rest when they come.
    public func open(for count: Int) {
        state.change { $0.admit(max(count, 0)) }
    }

    /// Waits until the gate lets the caller through. Throws `CancellationError` if the task that waits is cancelled:
    /// then somebody else is let through in its place.
    public func pass() async throws {
        try Task.checkCancellation()
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
        guard let ticket else { return }
        var hasPassed = false
        defer { state.change { [hasPassed] in $0.leave(ticket, hasPassed: hasPassed) } }
        try await state.wait { $0.isOpen || $0.admitted.contains(ticket) }
        hasPassed = true
    }

    /// Waits until so many wait at the gate. Throws `CancellationError` if the task that waits is cancelled.
    public func waiting(
        _ count: Int, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) async throws {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        try await ledger.wait(for: count, in: state, at: place, counted: \.queue.count) {
            "Expected \(count) to wait at the gate, and \($0) did"
        }
    }
}
