/// What went wrong in a ``TestScope`` that reports to nobody: thrown at its end, so that the test fails.
public struct TestFailures: Error, Sendable, CustomStringConvertible {
    /// The failures in the order in which they were found. Those that a scope within threw at its end come last.
    public let failures: [TestFailure]
    /// What the body threw, if it did, and if that is none of the failures.
    public let error: (any Error)?

    init(_ failures: [TestFailure], thrown error: (any Error)?) {
        // As a scope within this one throws them.
        let inner = error as? TestFailures
        self.failures = failures + (inner?.failures ?? [])
        let error = inner == nil ? error : inner?.error
        // As a stub throws it that isn't to be asked.
        let isTold = (error as? TestFailure).map(failures.contains) ?? false
        self.error = isTold ? nil : error
    }

    /// All failures, a line each.
    public var description: String {
        let lines = failures.map(\.description) + (error.map { ["And the test threw: \($0)"] } ?? [])
        return lines.joined(separator: "\n")
    }
}
