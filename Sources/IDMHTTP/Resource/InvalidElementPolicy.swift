/// The policy for elements of an array that can't be read.
public struct InvalidElementPolicy: Sendable {
    let skips: Bool
    let report: @Sendable (any Error) -> Void

    /// The array can't be read either. The error names the element.
    public static let fail = InvalidElementPolicy(skips: false, report: { _ in })
    /// The element is left out.
    public static let skip = InvalidElementPolicy(skips: true, report: { _ in })

    /// Leaves the element out and reports its error: once for each, in their order, on the thread that reads the body.
    public static func skip(_ report: @escaping @Sendable (any Error) -> Void) -> InvalidElementPolicy {
        InvalidElementPolicy(skips: true, report: report)
    }
}
