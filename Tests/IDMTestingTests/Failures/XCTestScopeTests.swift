import IDMCore
import IDMTesting
import XCTest

/// What the kit finds wrong in a test of XCTest. Run by XCTest itself.
///
/// Each test says what is to be heard. That is kept from XCTest, and what is missing or wrong is told instead.
final class XCTestScopeTests: ScopedTestCase {
    private struct Heard: Equatable {
        var words: String
        var line: Int
    }

    private var heard: [Heard] = []
    private var expected: [Heard] = []

    private func expect(_ words: String, atLine line: Int) {
        expected.append(Heard(words: words, line: line))
    }

    override func invokeTest() {
        super.invokeTest()
        let isRight =
            heard.count == expected.count
            && zip(heard, expected).allSatisfy { $0.words.contains($1.words) && $0.line == $1.line }
        if !isRight { tell("heard \(heard), and not \(expected)") }
    }

    // Before the leftovers are looked for, and so no failure.
    override func tearDown() async throws {
        if !heard.isEmpty { tell("heard too early: \(heard)") }
    }

    #if canImport(ObjectiveC)
    override func record(_ issue: XCTIssue) {
        let line = issue.sourceCodeContext.location?.lineNumber ?? 0
        heard.append(Heard(words: issue.compactDescription, line: line))
    }

    private func tell(_ words: String) {
        super.record(XCTIssue(type: .assertionFailure, compactDescription: words))
    }
    #else
    override func recordFailure(withDescription words: String, inFile path: String, atLine line: Int, expected: Bool) {
        heard.append(Heard(words: words, line: line))
    }

    private func tell(_ words: String) {
        super.recordFailure(withDescription: words, inFile: "\(#filePath)", atLine: #line, expected: true)
    }
    #endif

    func testStubThatNobodyAskedFailsTheTestAtItsLine() async throws {
        expect("a request", atLine: #line + 1)
        _ = StubDataProvider<Int, Int>(1)
    }

    func testStubThatNobodyAskedFailsATestThatIsNotAsync() {
        expect("a request", atLine: #line + 1)
        _ = StubDataProvider<Int, Int>(1)
    }

    @MainActor
    func testClockKnowsOfCallsOnTheMainActor() async throws {
        let (clock, provider) = (ManualClock(), ControlledDataProvider<Int, Int>())
        let integrator = Integrator(provider.timeout(.seconds(1), clock: clock))
        var hasFailed = false
        integrator.prepareCall(1).onError { _ in hasFailed = true }.call()
        await clock.advance(by: .seconds(1))
        XCTAssertTrue(hasFailed)
    }
}
