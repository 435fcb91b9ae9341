import IDMCore
import IDMTesting
import XCTest

// sample: failures of an XCTest
/// Runs each test in a scope of its own, whose failures are those of the test, at their lines.
class ScopedTestCase: XCTestCase {
    override func invokeTest() {
        do {
            try TestScope.run(reportingTo: { failure in
                XCTFail(failure.message, file: failure.place.filePath, line: UInt(failure.place.line))
            }) { super.invokeTest() }
        } catch {
            XCTFail("\(error)")
        }
    }
}

final class SearchTests: ScopedTestCase {
    func testSearchShowsWhatTheProviderFinds() async throws {
        let users = Integrator(StubDataProvider<String, [String]>(["Ada", "Grace"]))
        let found = try await users.request("a")
        XCTAssertEqual(found, ["Ada", "Grace"])
    }
}
// end
