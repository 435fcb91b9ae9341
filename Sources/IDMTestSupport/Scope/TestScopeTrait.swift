public import IDMTesting
public import Testing

/// Runs each test of a suite in a `TestScope`, whose failures become issues at their lines.
///
/// ```swift
/// @Suite(.testScope)
/// struct SearchTests {
///     @Test("A search shows the names of the users")
///     func search() async throws {
///         let users = Integrator(StubDataProvider<String, [String]>(["Ada"]))
///         #expect(try await users.request("a") == ["Ada"])
///     }
/// }
/// ```
public struct TestScopeTrait: TestTrait, SuiteTrait, TestScoping {
    let waitLimit: Duration?

    /// True: the tests of a suite get a scope each.
    public var isRecursive: Bool { true }

    /// Runs a test in a scope.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let reported = ReportedFailures()
        do {
            try await TestScope.run(waitLimit: waitLimit, reportingTo: reported.report) { try await function() }
        } catch let failure as TestFailure where reported.contains(failure) {
            // Thrown by a stub or a wait, and recorded as an issue already.
        }
    }
}

extension Trait where Self == TestScopeTrait {
    /// Runs each test in a `TestScope`, whose failures become issues at their lines.
    public static var testScope: Self { Self(waitLimit: nil) }

    /// Runs each test in a `TestScope` with a limit for the waiting functions of the kit.
    public static func testScope(waitLimit: Duration) -> Self { Self(waitLimit: waitLimit) }
}

extension TestFailure {
    /// Records the failure as an issue of the current test, at the line of the failure.
    public func recordIssue() {
        let location = SourceLocation(
            fileID: "\(place.fileID)", filePath: "\(place.filePath)", line: place.line, column: place.column)
        Issue.record(Comment(rawValue: message), sourceLocation: location)
    }
}

/// Records failures as issues, and remembers them.
private final class ReportedFailures: Sendable {
    private let failures = Observed<[TestFailure]>([])

    func contains(_ failure: TestFailure) -> Bool { failures.value.contains(failure) }

    var report: TestFailure.Handler {
        { [failures] failure in
            failures.change { $0.append(failure) }
            failure.recordIssue()
        }
    }
}
