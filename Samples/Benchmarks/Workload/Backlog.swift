/// Operations that pile up behind the first one until it is let go.
struct Backlog: Sendable {
    /// Takes what to ask and where to report, and gives the way to add an operation.
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

    /// Lets the operations go, and waits until all have ended.
    ///
    /// - Returns: The sum of their answers.
    func drain() async -> Int {
        gate.open()
        return await tally.sum()
    }
}
