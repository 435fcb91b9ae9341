/// A difference between what a test expected and what happened.
///
/// It is reported to the ``TestScope`` of the test. Stubs and waiting functions throw it as well, so that the code that
/// awaits them ends.
public struct TestFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The expectation, and the difference from it.
    public let message: String
    /// The line of the test that the failure is about.
    public let place: SourcePlace

    /// Makes a failure.
    public init(_ message: String, at place: SourcePlace) {
        self.message = message
        self.place = place
    }

    /// The place and the message.
    public var description: String { "\(place): \(message)" }

    /// Receives failures, on any thread.
    public typealias Handler = @Sendable (TestFailure) -> Void
}

/// All failures of a ``TestScope`` without a handler: thrown at its end, so that the test fails.
public struct TestFailures: Error, Sendable, CustomStringConvertible {
    /// The failures in the order in which they were found, those of an inner scope last.
    public let failures: [TestFailure]
    /// The error that the body threw, unless that error is one of the failures.
    public let error: (any Error)?

    init(_ failures: [TestFailure], thrown error: (any Error)?) {
        let inner = error as? TestFailures
        self.failures = failures + (inner?.failures ?? [])
        let error = inner == nil ? error : inner?.error
        let isReported = (error as? TestFailure).map(failures.contains) ?? false
        self.error = isReported ? nil : error
    }

    /// One line for each failure.
    public var description: String {
        let lines = failures.map(\.description) + (error.map { ["And the test threw: \($0)"] } ?? [])
        return lines.joined(separator: "\n")
    }
}

extension Int {
    /// The number, or “none” for zero.
    package var orNone: String { self == 0 ? "none" : "\(self)" }

    /// The number with the word “request”.
    package var requests: String { of("request") }

    /// The number with a noun, which gets an s in the plural.
    package func of(_ noun: String) -> String { self == 1 ? "1 \(noun)" : "\(self) \(noun)s" }
}

extension [String] {
    /// The elements separated by commas, or “nothing”.
    package var inWords: String { isEmpty ? "nothing" : joined(separator: ", ") }
}
