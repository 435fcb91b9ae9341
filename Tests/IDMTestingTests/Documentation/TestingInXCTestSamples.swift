import IDMCore
import IDMTestSupport
import IDMTesting
import XCTest

// sample: a test case with scopes
class ScopedTestCase: XCTestCase {
    override func invokeTest() { runInTestScope { super.invokeTest() } }
}
// end

/// A use of the sample.
final class SearchScreenTests: ScopedTestCase {
    func testSearchShowsTheNamesOfTheUsers() async throws {
        let users = Integrator(StubDataProvider<String, [String]>(["Ada"]))
        let names = try await users.request("a")
        XCTAssertEqual(names, ["Ada"])
    }
}
