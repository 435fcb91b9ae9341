import IDMCore

/// A gate that the test opens, and at which other tasks wait.
///
/// ```swift
/// let gate = TestGate()
/// let provider = StubDataProvider { (id: Int) in
///     try await gate.pass()
///     return "user \(id)"
/// }
/// let task = Integrator(provider).prepareCall(1).call()
/// try await gate.waitForTasks(1)
/// gate.open()
/// #expect(try await task.value == "user 1")
/// ```
///
/// Waiting tasks pass in the order of their arrival. Safe on any thread.
public final class TestGate: Sendable {
    private struct State {
        var isOpen = false
        /// The number of tasks that may pass without waiting.
        var credit = 0
        /// The waiting tasks in the order of their arrival.
        var queue: [Int] = []
        var admitted: Set<Int> = []
        var lastTicket = 0

        mutating func admit(_ count: Int) {
            let passing = queue.prefix(count)
            admitted.formUnion(passing)
            queue.removeFirst(passing.count)
            credit = credit.addingSaturating(count - passing.count)
        }

        /// Removes a waiting task. If it was admitted and doesn't pass, the next task is admitted instead.
        mutating func leave(_ ticket: Int, hasPassed: Bool) {
            queue.removeAll { $0 == ticket }
            if admitted.remove(ticket) != nil, !hasPassed { admit(1) }
        }
    }

    private let state = Observed(State())
    private let collector = FailureCollector.current

    /// Makes a closed gate.
    public init() {}

    /// Opens the gate for all tasks.
    public func open() {
        state.change { $0.isOpen = true }
    }

    /// Opens the gate for a number of tasks: waiting tasks first, then later ones.
    public func open(for count: Int) {
        state.change { $0.admit(max(count, 0)) }
    }

    /// Waits until the gate is open for the caller. Throws `CancellationError` if the task is cancelled.
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

    /// Waits until a number of tasks wait at the gate.
    ///
    /// - Throws: The recorded ``TestFailure``, when the limit is reached; `CancellationError`, if the task is cancelled.
    public func waitForTasks(
        _ count: Int, within limit: Duration? = nil, fileID: StaticString = #fileID,
        filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) async throws {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        try await collector.wait(for: count, in: state, at: place, within: limit, counted: \.queue.count) {
            "Expected \(count.of("task")) to wait at the gate, and \($0) did"
        }
    }
}
