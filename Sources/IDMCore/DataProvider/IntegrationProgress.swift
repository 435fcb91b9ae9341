/// How far a call has come.
///
/// Progress is ambient: any provider below a call may report, and the call's `onProgress` hears it, without a parameter
/// on the way. Inside `request`:
///
/// ```swift
/// for (index, page) in pages.enumerated() {
///     try await load(page)
///     IntegrationProgress.report(completed: Int64(index + 1), total: Int64(pages.count))
/// }
/// ```
///
/// A sequence gives each of its stages an equal share, a group takes the mean of its members. The fraction that a call
/// hears never goes backwards. Reports may be coalesced, but the last one before a value is heard before it.
public struct IntegrationProgress: Sendable, Hashable {
    /// How much of the whole call is done, from 0 to 1.
    public let fraction: Double
    /// How many units the provider that reported has completed, if it counts.
    public let completed: Int64?
    /// How many units the provider that reported has in all, if it knows.
    public let total: Int64?

    /// Makes a progress. A fraction outside of 0 to 1 is moved to the nearer end, and one that isn't a number is 0.
    public init(fraction: Double, completed: Int64? = nil, total: Int64? = nil) {
        self.fraction = fraction > 0 ? min(fraction, 1) : 0
        self.completed = completed
        self.total = total
    }

    /// The reporter of the call that the current task works for, or nil if nobody listens.
    ///
    /// Threads that aren't part of the task (a delegate queue, say) don't see it: take it inside `request`, or for a
    /// stream inside `values(for:)`, and keep it.
    public static var current: Reporter? { Reporter.current }

    /// Reports to the call that the current task works for. Does nothing if nobody listens.
    public static func report(completed: Int64, total: Int64?) {
        current?.report(completed: completed, total: total)
    }
}
