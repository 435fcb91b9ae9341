/// Operations that wait behind the first one until its gate opens.
struct Backlog: Sendable {
    /// Receives the provider and the tally, and returns a closure that adds an operation.
    typealias Line = @Sendable (GatedEcho, Tally) -> @Sendable (Int) -> Void

    private let gate = Gate()
    private let tally: Tally
    private let submit: @Sendable (Int) -> Void

    init(of operations: Int, in line: Line) {
        tally = Tally(expecting: operations)
        submit = line(GatedEcho(gate: gate), tally)
    }

    /// Adds all operations. None of them can end before ``drain()``.
    func fill(_ operations: Int) {
        for input in 0..<operations { submit(input) }
    }

    /// Opens the gate, and waits until all operations have ended.
    ///
    /// - Returns: The sum of their answers.
    func drain() async -> Int {
        gate.open()
        return await tally.sum()
    }
}
