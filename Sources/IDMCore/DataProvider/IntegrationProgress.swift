/// The progress of a call.
///
/// Progress is ambient: any provider below a call may report it, and the call's `onProgress` receives it without a
/// parameter in between. Inside `request`:
///
/// ```swift
/// for (index, page) in pages.enumerated() {
///     try await load(page)
///     IntegrationProgress.report(completed: Int64(index + 1), total: Int64(pages.count))
/// }
/// ```
///
/// In a sequence each stage has an equal share, and a group reports the mean of its members. The fraction that a call
/// receives never decreases. Reports may be coalesced, but the last one before a value is delivered before it.
public struct IntegrationProgress: Sendable, Hashable {
    /// The completed part of the whole call, from 0 to 1.
    public let fraction: Double
    /// The number of units that the reporting provider has completed, if it counts.
    public let completed: Int64?
    /// The number of units that the reporting provider has in all, if it knows.
    public let total: Int64?

    /// Creates a progress. A fraction outside of 0...1 is clamped, and NaN is 0.
    public init(fraction: Double, completed: Int64? = nil, total: Int64? = nil) {
        self.fraction = fraction > 0 ? min(fraction, 1) : 0
        self.completed = completed
        self.total = total
    }

    /// The reporter of the call that the current task works for, or nil if no call receives progress.
    ///
    /// Threads outside of the task, such as a delegate queue, don't see it. Read it inside `request`, or for a stream
    /// inside `values(for:)`, and keep it.
    public static var current: Reporter? { Reporter.current }

    /// Reports to the call that the current task works for. Does nothing if no call receives progress.
    public static func report(completed: Int64, total: Int64?) {
        current?.report(completed: completed, total: total)
    }
}
