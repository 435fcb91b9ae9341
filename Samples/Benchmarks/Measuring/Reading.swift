/// What one row has found. A figure is missing where the platform doesn't tell.
struct Reading: Sendable {
    var ours: Spread?
    var theirs: Spread?
    /// Allocations for each operation, beside the figures of time.
    var allocations: (ours: Double, theirs: Double)?
    /// Instructions for each operation, beside the figures of time.
    var instructions: (ours: Double, theirs: Double)?
}
