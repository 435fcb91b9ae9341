import IDMCore
import IDMTestSupport
import IDMTesting
import TestSupport
import Testing

@Suite("The scope trait", .timeLimit(.ample))
struct TestScopeTraitTests {
    @Suite(.testScope(waitLimit: .zero))
    struct Scoped {
        @Test("Each failure becomes one issue at its own line")
        func issues() async throws {
            let stub = StubDataProvider<Int, Int>.unexpected()
            let line = #line - 1
            await withKnownIssue {
                _ = try? await stub.request(1)
            } matching: { issue in
                issue.sourceLocation?.line == line
                    && issue.comments.contains("The stub expected no request, and request 1 came: 1")
            }
        }

        @Test("A wait has the limit of the trait")
        func limit() async throws {
            let provider = ControlledDataProvider<Int, Int>()
            await withKnownIssue { await #expect(throws: TestFailure.self) { try await provider.waitForRequest() } }
        }
    }

    @Test("A failure that the test throws as well is one issue")
    func thrown() async throws {
        let test = try #require(Test.current)
        try await withKnownIssue {
            try await TestScopeTrait.testScope.provideScope(for: test, testCase: Test.Case.current) {
                _ = try await StubDataProvider<Int, Int>.unexpected().request(1)
            }
        } matching: { issue in
            issue.error == nil
        }
    }
}
