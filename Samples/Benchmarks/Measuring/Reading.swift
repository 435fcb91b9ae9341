/// The figures of one row. A figure is missing where the platform doesn't measure it.
struct Reading: Sendable {
    var ours: Spread?
    var theirs: Spread?
    /// The allocations per operation, for a row of times.
    var allocations: (ours: Double, theirs: Double)?
    /// The instructions per operation, for a row of times.
    var instructions: (ours: Double, theirs: Double)?
}
