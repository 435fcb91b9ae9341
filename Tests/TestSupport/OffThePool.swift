import Dispatch
package import Testing

/// Runs the tests with this trait one by one, on a thread of their own.
///
/// For tests that compute for long. The pool has as many threads as there are processors: two such tests would leave
/// none, while time-outs of further tests run.
package struct OffThePool: TestTrait, SuiteTrait, TestScoping {
    package let isRecursive = true
    private static let seat = Seats(1)

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        try await Self.seat.run {
            try await withTaskExecutorPreference(OneThread.shared) { try await function() }
        }
    }
}

extension Trait where Self == OffThePool {
    /// See ``OffThePool``.
    package static var offThePool: Self { Self() }
}

/// Runs jobs one by one, on no thread of the pool.
package final class OneThread: TaskExecutor {
    static let shared = OneThread()

    private let queue = DispatchQueue(label: "idm.tests.one-thread")

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
