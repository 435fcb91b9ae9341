/// Something that a test expected and that came otherwise.
///
/// It goes to whoever the test reports to; see ``TestScope``. Stubs also throw it, so that the code under test gets an
/// end.
public struct TestFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was expected, and what came.
    public let message: String
    /// The line of the test that it is about.
    public let place: SourcePlace

    /// Makes a failure.
    public init(_ message: String, at place: SourcePlace) {
        self.message = message
        self.place = place
    }

    /// The place and the message.
    public var description: String { "\(place): \(message)" }

    /// Takes failures, on any thread.
    public typealias Handler = @Sendable (TestFailure) -> Void
}
