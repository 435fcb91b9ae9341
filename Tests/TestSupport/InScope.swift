import IDMCore
import IDMTesting
package import Testing

/// Runs each test in a ``TestScope`` of its own: what the kit finds becomes an issue at its line, and nothing may be
/// left over at the end.
///
/// The library runs as it does for its users: nobody watches its tasks but a clock that they are given.
package struct InScope: TestTrait, SuiteTrait, TestScoping {
    package let isRecursive = true

    package init() {}

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await TestScope.run(reportingTo: { Issue.record($0) }) {
            try await LibraryTask.binding(LibraryTask.$executor, to: nil) { try await function() }
        }
    }
}

extension Trait where Self == InScope {
    /// See ``InScope``.
    package static var inScope: Self { Self() }
}

extension Issue {
    fileprivate static func record(_ failure: TestFailure) {
        let place = SourceLocation(
            fileID: "\(failure.place.fileID)", filePath: "\(failure.place.filePath)", line: failure.place.line,
            column: failure.place.column)
        record(Comment(rawValue: failure.message), sourceLocation: place)
    }
}
