import Dispatch
package import Testing

/// Runs a test on a thread of its own, and tests that have this trait one after the other.
///
/// For tests that compute for long without a pause. There are as many threads for tasks as there are processors: two
/// such tests leave nothing for all others, whose time-outs go on meanwhile.
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

/// Runs jobs one after the other, on no thread of the pool.
package final class OneThread: TaskExecutor {
    static let shared = OneThread()

    private let queue = DispatchQueue(label: "idm.tests.one-thread")

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
