import IDMCore

extension FailureLedger {
    /// What has begun in a scope and hasn't ended: a wait, or a scope within it.
    final class OpenPart: Sendable {
        /// What has failed in it, or is missing. Takes until when it was waited for that.
        let failures: @Sendable (_ end: String) -> [TestFailure]

        init(failures: @escaping @Sendable (_ end: String) -> [TestFailure]) {
            self.failures = failures
        }

        /// A test that waits.
        ///
        /// - Parameters:
        ///   - watched: Where something is to come.
        ///   - place: Where the test waits.
        ///   - remaining: What was expected, and what has come instead so far. Nil where it has come.
        convenience init<Value>(
            waitingFor watched: Watched<Value>, at place: SourcePlace,
            remaining: @escaping @Sendable (Value) -> String?
        ) {
            self.init { end in
                remaining(watched.value).map { [TestFailure("\($0) until \(end).", at: place)] } ?? []
            }
        }
    }

    /// Waits for what a test needs before it can go on.
    ///
    /// - Parameters:
    ///   - isSatisfied: Whether it can.
    ///   - remaining: What was expected, and what has come instead so far. Nil where nothing is missing, which may be
    ///     later than that the test can go on: what it waits for may come in parts.
    package func wait<Value>(
        for watched: Watched<Value>, at place: SourcePlace, until isSatisfied: @escaping @Sendable (Value) -> Bool,
        remaining: @escaping @Sendable (Value) -> String?
    ) async throws {
        let wait = OpenPart(waitingFor: watched, at: place, remaining: remaining)
        let end = TestScope.begin(wait)
        defer { end() }
        do {
            try await watched.wait(until: isSatisfied)
        } catch {
            // What it waits for may be of another scope than the test, or of none. And a task may outlive the scope
            // that it was started in.
            let missing = wait.failures("the test was cancelled")
            _ = (TestScope.currentLedgers + outwards).first { $0.miss(missing) }
            throw error
        }
    }

    /// Waits for something that comes as a whole.
    ///
    /// - Parameter missing: What was expected, and what has come instead so far.
    package func wait<Value>(
        for watched: Watched<Value>, at place: SourcePlace, until isSatisfied: @escaping @Sendable (Value) -> Bool,
        missing: @escaping @Sendable (Value) -> String
    ) async throws {
        try await wait(for: watched, at: place, until: isSatisfied) { isSatisfied($0) ? nil : missing($0) }
    }

    /// Waits for so many of something.
    ///
    /// - Parameter missing: What was expected, and how many have come instead so far, in words.
    package func wait<Value>(
        for count: Int, in watched: Watched<Value>, at place: SourcePlace,
        counted: @escaping @Sendable (Value) -> Int, missing: @escaping @Sendable (_ came: String) -> String
    ) async throws {
        try await wait(for: watched, at: place) {
            counted($0) >= count
        } missing: {
            missing(counted($0).orNone)
        }
    }

    /// Waits for the end of a request.
    package func waitForEnd<Value>(
        in request: Watched<Value>, at place: SourcePlace, isOver: @escaping @Sendable (Value) -> Bool
    ) async throws {
        try await wait(for: request, at: place, until: isOver) { _ in
            "Expected the end of the request, and none came"
        }
    }

    /// Waits for the cancel of a request. It fails if the request ends without one.
    package func waitForCancel<Value>(
        in request: Watched<Value>, at place: SourcePlace, isCancelled: @escaping @Sendable (Value) -> Bool,
        isOver: @escaping @Sendable (Value) -> Bool
    ) async throws {
        try await wait(for: request, at: place) {
            isCancelled($0) || isOver($0)
        } remaining: {
            isCancelled($0) ? nil : "Expected a cancel of the request, and none came"
        }
        guard !isCancelled(request.value) else { return }
        record("Expected a cancel of the request, and it ended without one.", at: place)
    }
}
