import Foundation
import IDMCore

/// A wait of a test that hasn't ended.
final class PendingWait: Sendable {
    /// The failure, if the awaited thing is still missing. Takes a phrase that says how the wait ended.
    let missing: @Sendable (_ end: String) -> TestFailure?

    init(_ missing: @escaping @Sendable (_ end: String) -> TestFailure?) {
        self.missing = missing
    }

    /// The time that a test waits: ten seconds, or as many as the environment variable `IDM_WAIT_LIMIT` says.
    static let defaultLimit: Duration = {
        let seconds = ProcessInfo.processInfo.environment["IDM_WAIT_LIMIT"].flatMap { Double($0) }
        return seconds.map { .seconds($0) } ?? .seconds(10)
    }()

    /// True if the caller is in an exploration, which notices by itself that a wait can't end.
    static var isExploring: Bool { (LibraryTask.executor as? any ActivityTracker)?.ordersWork == true }
}

extension FailureCollector {
    /// Waits until a condition holds.
    ///
    /// - Parameters:
    ///   - limit: How long, in real time. Nil for the limit of the scope.
    ///   - isSatisfied: Whether the wait is over.
    ///   - missing: What was expected, and what has happened instead so far. Nil if nothing is missing.
    /// - Throws: `CancellationError`, if the task is cancelled. If the task of the scope is cancelled as well, what is
    ///   missing is a failure. The recorded ``TestFailure``, when the limit is reached.
    package func wait<Value>(
        for watched: Observed<Value>, at place: SourcePlace, within limit: Duration? = nil,
        until isSatisfied: @escaping @Sendable (Value) -> Bool,
        missing: @escaping @Sendable (Value) -> String?
    ) async throws {
        let wait = PendingWait { end in
            missing(watched.value).map { TestFailure("\($0) \(end).", at: place) }
        }
        let collectors = TestScope.currentCollectors
        for collector in collectors { collector.add(wait) }
        defer { for collector in collectors { collector.remove(wait) } }
        let limit = limit ?? (collectors.first ?? self).waitLimit
        do {
            try await watched.wait(within: PendingWait.isExploring ? nil : limit, until: isSatisfied)
        } catch is WaitLimitReached {
            guard let failure = wait.missing("within \(limit)") else { return }
            record(failure)
            throw failure
        } catch {
            // The awaited thing may belong to another scope than the test, and a task may outlive its scope.
            if let failure = wait.missing("until the test was cancelled") {
                _ = (collectors + outwards).first { $0.noteMissing(failure) }
            }
            throw error
        }
    }

    /// Waits for a number of things.
    ///
    /// - Parameter missing: What was expected. Takes the number that has come so far, in words.
    package func wait<Value>(
        for count: Int, in watched: Observed<Value>, at place: SourcePlace, within limit: Duration? = nil,
        counted: @escaping @Sendable (Value) -> Int, missing: @escaping @Sendable (_ came: String) -> String
    ) async throws {
        try await wait(for: watched, at: place, within: limit) {
            counted($0) >= count
        } missing: {
            counted($0) >= count ? nil : missing(counted($0).orNone)
        }
    }

    /// Waits for the end of a request.
    func waitForEnd<Value>(
        of request: Observed<Value>, at place: SourcePlace, within limit: Duration?,
        isOver: @escaping @Sendable (Value) -> Bool
    ) async throws {
        try await wait(for: request, at: place, within: limit, until: isOver) {
            isOver($0) ? nil : "Expected the end of the request, and none came"
        }
    }

    /// Waits for the cancel of a request. A request that ends without one is a failure.
    func waitForCancel<Value>(
        of request: Observed<Value>, at place: SourcePlace, within limit: Duration?,
        isCancelled: @escaping @Sendable (Value) -> Bool, isOver: @escaping @Sendable (Value) -> Bool
    ) async throws {
        try await wait(for: request, at: place, within: limit) {
            isCancelled($0) || isOver($0)
        } missing: {
            isCancelled($0) ? nil : "Expected a cancel of the request, and none came"
        }
        guard !isCancelled(request.value) else { return }
        record("Expected a cancel of the request, and it ended without one.", at: place)
    }
}
