#if canImport(XCTest)
import IDMTesting
public import XCTest

extension XCTestCase {
    /// Runs a test method, with its `setUp` and `tearDown`, in a `TestScope`, whose failures are those of the test, at
    /// their lines.
    ///
    /// ```swift
    /// class ScopedTestCase: XCTestCase {
    ///     override func invokeTest() { runInTestScope { super.invokeTest() } }
    /// }
    /// ```
    ///
    /// XCTest makes the stored properties of a test case before the test: make stubs and clocks in `setUp`, or in the
    /// test itself.
    ///
    /// - Parameters:
    ///   - waitLimit: The limit of the waiting functions of the kit. Nil for ten seconds.
    ///   - invokeTest: Calls `super.invokeTest()`.
    @nonobjc
    public func runInTestScope(waitLimit: Duration? = nil, _ invokeTest: () -> Void) {
        let report: TestFailure.Handler = { failure in
            XCTFail(failure.message, file: failure.place.filePath, line: UInt(failure.place.line))
        }
        // Only EndedEarly can be thrown: failures go to the handler.
        try? TestScope.run(waitLimit: waitLimit, reportingTo: report) {
            invokeTest()
            if let run = testRun, run.hasBeenSkipped || run.unexpectedExceptionCount > 0 { throw EndedEarly() }
        }
    }

    /// The end of a test that was skipped, or that threw: its leftovers aren't checked.
    private struct EndedEarly: Error {}
}
#endif
