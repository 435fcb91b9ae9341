import IDMCore
import IDMTesting
import XCTest

// sample: failures of an XCTest
/// Runs each test in a scope of its own, whose failures are those of the test, at their lines.
class ScopedTestCase: XCTestCase {
    override func invokeTest() {
        let report: TestFailure.Handler = { failure in
            XCTFail(failure.message, file: failure.place.filePath, line: UInt(failure.place.line))
        }
        // Nothing is thrown to here but that: what fails is reported.
        try? TestScope.run(reportingTo: report) {
            super.invokeTest()
            if let run = testRun, run.hasBeenSkipped || run.unexpectedExceptionCount > 0 { throw EndedEarly() }
        }
    }

    /// A test that was skipped, or with an error that XCTest doesn't expect: nothing is asked of what it leaves behind.
    private struct EndedEarly: Error {}
}

final class SearchTests: ScopedTestCase {
    func testSearchShowsWhatTheProviderFinds() async throws {
        let users = Integrator(StubDataProvider<String, [String]>(["Ada", "Grace"]))
        let found = try await users.request("a")
        XCTAssertEqual(found, ["Ada", "Grace"])
    }
}
// end
