import IDMCore
import XCTest

@testable import IDMTesting

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
    private var kept: AnyObject?

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

    func testNothingIsAskedOfATestThatIsSkipped() throws {
        _ = StubDataProvider<Int, Int>(1)
        throw XCTSkip("This is how a skipped test looks.")
    }

    func testStubThatNobodyAskedFailsATestThatIsNotAsync() {
        expect("a request", atLine: #line + 1)
        _ = StubDataProvider<Int, Int>(1)
    }

    func testWhatIsOnItsWayOutHasTimeToGoAlsoWhereItNeedsTheMainThread() {
        let (hasLooked, isGone) = (Watched(false), Watched(false))
        FailureLedger.current.atEnd(
            .leak,
            isGone: {
                let isFirst = hasLooked.change { hasLooked in
                    defer { hasLooked = true }
                    return !hasLooked
                }
                if isFirst { DispatchQueue.main.async { isGone.change { $0 = true } } }
                return isGone.value
            },
            { isGone.value ? [] : [TestFailure("stays", at: SourcePlace())] })
    }

    func testLeakFailsATestThatIsNotAsync() {
        final class Screen: Sendable {}
        let screen = Screen()
        kept = screen
        expect("to be released", atLine: #line + 1)
        LeakTracker().track(screen)
    }

    func testFailureOfADetachedTaskIsThatOfTheTest() async {
        expect("expected no request", atLine: #line + 1)
        let stub = StubDataProvider<Int, Int>.unexpected()
        await Task.detached { _ = try? await stub.request(1) }.value
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
