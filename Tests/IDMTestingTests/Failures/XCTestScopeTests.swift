import IDMCore
import IDMTestSupport
import XCTest

@testable import IDMTesting

/// Tests of the kit in XCTest, run by XCTest.
///
/// Each test names its expected failures, which are kept from XCTest. A difference is reported instead.
final class XCTestScopeTests: XCTestCase {
    private struct Recorded: Equatable {
        var words: String
        var line: Int
    }

    private var recorded: [Recorded] = []
    private var expected: [Recorded] = []
    private var kept: AnyObject?
    private var left: () -> Void = {}

    private func expect(_ words: String, atLine line: Int) {
        expected.append(Recorded(words: words, line: line))
    }

    override func invokeTest() {
        runInTestScope { super.invokeTest() }
        let isRight =
            recorded.count == expected.count
            && zip(recorded, expected).allSatisfy { $0.words.contains($1.words) && $0.line == $1.line }
        if !isRight { report("recorded \(recorded), and not \(expected)") }
        left()
    }

    // Before the end of the scope, and so before its checks.
    override func tearDown() async throws {
        if !recorded.isEmpty { report("recorded too early: \(recorded)") }
    }

    #if canImport(ObjectiveC)
    override func record(_ issue: XCTIssue) {
        let line = issue.sourceCodeContext.location?.lineNumber ?? 0
        recorded.append(Recorded(words: issue.compactDescription, line: line))
    }

    private func report(_ words: String) {
        super.record(XCTIssue(type: .assertionFailure, compactDescription: words))
    }
    #else
    override func recordFailure(withDescription words: String, inFile path: String, atLine line: Int, expected: Bool) {
        recorded.append(Recorded(words: words, line: line))
    }

    private func report(_ words: String) {
        super.recordFailure(withDescription: words, inFile: "\(#filePath)", atLine: #line, expected: true)
    }
    #endif

    func testUnusedStubFailsTheTestAtItsLine() async throws {
        expect("a request", atLine: #line + 1)
        _ = StubDataProvider<Int, Int>(1)
    }

    func testSkippedTestHasNoLeftovers() throws {
        _ = StubDataProvider<Int, Int>(1)
        throw XCTSkip("This is how a skipped test looks.")
    }

    func testUnusedStubFailsASynchronousTest() {
        expect("a request", atLine: #line + 1)
        _ = StubDataProvider<Int, Int>(1)
    }

    func testCheckThatNeedsTheMainThreadSettlesWithinTheGracePeriod() {
        let (hasLooked, isSettled) = (Observed(false), Observed(false))
        FailureCollector.current.atEnd(
            EndCheck(.release) {
                let isFirst = hasLooked.change { hasLooked in
                    defer { hasLooked = true }
                    return !hasLooked
                }
                if isFirst { DispatchQueue.main.async { isSettled.change { $0 = true } } }
                return isSettled.value
            } failures: {
                isSettled.value ? [] : [TestFailure("stays", at: SourcePlace())]
            })
    }

    func testUnansweredRequestFailsTheTestAtItsLine() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let task = Task { try await provider.request(1) }
        expect("Expected an answer to the request with 1", atLine: #line + 1)
        _ = try await provider.waitForRequest()
        left = { task.cancel() }
    }

    func testLeakFailsASynchronousTest() {
        final class Screen: Sendable {}
        let screen = Screen()
        kept = screen
        expect("to be released", atLine: #line + 1)
        LeakTracker().track(screen)
    }

    func testFailureOfADetachedTaskFailsTheTest() async {
        expect("expected no request", atLine: #line + 1)
        let stub = StubDataProvider<Int, Int>.unexpected()
        await Task.detached { _ = try? await stub.request(1) }.value
    }

    @MainActor
    func testClockTracksCallsOnTheMainActor() async throws {
        let (clock, provider) = (ManualClock(), ControlledDataProvider<Int, Int>())
        let integrator = Integrator(provider.timeout(.seconds(1), clock: clock))
        var hasFailed = false
        integrator.prepareCall(1).onError { _ in hasFailed = true }.call()
        await clock.advance(by: .seconds(1))
        XCTAssertTrue(hasFailed)
    }
}
