import IDMCore
import IDMTestSupport
package import Testing

/// Runs each test in a `TestScope`, without a clock or an executor that tracks the work of the library.
///
/// The library runs as it does for its users: only a clock that a test makes tracks its tasks.
package struct InScope: TestTrait, SuiteTrait, TestScoping {
    package let isRecursive = true

    package init() {}

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await TestScopeTrait.testScope.provideScope(for: test, testCase: testCase) {
            try await LibraryTask.binding(LibraryTask.$executor, to: nil) { try await function() }
        }
    }
}

extension Trait where Self == InScope {
    /// See ``InScope``.
    package static var inScope: Self { Self() }
}
