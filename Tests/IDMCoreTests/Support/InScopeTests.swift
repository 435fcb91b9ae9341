import IDMCore
import IDMTesting
import TestSupport
import Testing

/// The trait that runs a test in a scope.
@Suite(.inScope, .timeLimit(.ample))
struct InScopeTests {
    @Test func `the tasks of a test in a scope are not watched`() {
        #expect(LibraryTask.executor == nil)
    }

    @Test func `unexpected events and running calls are issues of their lines`() async throws {
        let (line, test, found) = (#line + 5, try #require(Test.current), Log())
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider)
        try await withKnownIssue {
            try await InScope().provideScope(for: test, testCase: nil) {
                let recorder = IntegrationRecorder<Int>()
                recorder.call(integrator.prepareCall(1))
                _ = try await provider.waitForRequest()
            }
        } matching: { issue in
            found.add("\(issue.sourceLocation?.line ?? 0)")
            return true
        }

        #expect(found.entries == ["\(line + 1)", "\(line)"])
        integrator.cancel()
    }
}
