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

    /// Waits for so many of something.
    ///
    /// - Parameter missing: What was expected, and how many have come instead so far, in words.
    func wait<Value>(
        for count: Int, in watched: Watched<Value>, at place: SourcePlace,
        counted: @escaping @Sendable (Value) -> Int, missing: (_ came: String) -> String
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
