import IDMCore

extension FailureLedger {
    /// A test that waits for something.
    final class OpenWait: Sendable {
        private let place: SourcePlace
        private let missing: @Sendable () -> String?

        /// - Parameter missing: What was expected, and what came instead, or nil once it has come.
        init(at place: SourcePlace, missing: @escaping @Sendable () -> String?) {
            self.place = place
            self.missing = missing
        }

        /// That it hasn't come, if so.
        ///
        /// - Parameter end: Until when it was waited for.
        func failure(until end: String) -> TestFailure? {
            missing().map { TestFailure("\($0) until \(end).", at: place) }
        }
    }

    /// Waits for what a test needs before it can go on.
    ///
    /// - Parameters:
    ///   - watched: Where it is to come.
    ///   - place: Where the test waits.
    ///   - isSatisfied: Whether it has come.
    ///   - missing: What was expected, and what has come instead so far.
    func wait<Value>(
        for watched: Watched<Value>, at place: SourcePlace, until isSatisfied: @escaping @Sendable (Value) -> Bool,
        missing: @escaping @Sendable (Value) -> String
    ) async throws {
        let wait = OpenWait(at: place) {
            let value = watched.value
            return isSatisfied(value) ? nil : missing(value)
        }
        // The scopes of whoever waits: an exploration that comes to a standstill asks its own.
        let ledgers = TestScope.currentLedgers
        for ledger in ledgers { ledger.begin(wait) }
        defer { for ledger in ledgers { ledger.end(wait) } }
        do {
            try await watched.wait(until: isSatisfied)
        } catch {
            wait.failure(until: "the test was cancelled").map(miss)
            throw error
        }
    }

    /// Waits for so many of something.
    ///
    /// - Parameter missing: What was expected, and how many have come instead so far, in words.
    func wait<Value>(
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
    func waitForEnd<Value>(
        in request: Watched<Value>, at place: SourcePlace, isOver: @escaping @Sendable (Value) -> Bool
    ) async throws {
        try await wait(for: request, at: place, until: isOver) { _ in
            "Expected the end of the request, and none came"
        }
    }

    /// Waits for the cancel of a request. It fails if the request ends without one.
    func waitForCancel<Value>(
        in request: Watched<Value>, at place: SourcePlace, isCancelled: @escaping @Sendable (Value) -> Bool,
        isOver: @escaping @Sendable (Value) -> Bool
    ) async throws {
        try await wait(for: request, at: place) {
            isCancelled($0) || isOver($0)
        } missing: { _ in
            "Expected a cancel of the request, and none came"
        }
        guard !isCancelled(request.value) else { return }
        record("Expected a cancel of the request, and it ended without one.", at: place)
    }
}
