import IDMCore

extension FailureLedger {
    /// Waits for what a test needs before it can go on.
    ///
    /// - Parameters:
    ///   - watched: Where it is to come.
    ///   - place: Where the test waits.
    ///   - isSatisfied: Whether it has come.
    ///   - missing: What was expected, and what has come instead so far.
    func wait<Value>(
        for watched: Watched<Value>, at place: SourcePlace, until isSatisfied: @escaping @Sendable (Value) -> Bool,
        missing: (Value) -> String
    ) async throws {
        do {
            try await watched.wait(until: isSatisfied)
        } catch {
            miss(TestFailure("\(missing(watched.value)) until the test was cancelled.", at: place))
            throw error
        }
    }
}
