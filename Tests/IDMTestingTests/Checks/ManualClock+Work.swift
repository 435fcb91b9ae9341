import IDMCore
import IDMTesting

extension ManualClock {
    /// A task of its own that has the input as its value after a second.
    func secondOfWork(with input: Int) -> Task<Int, any Error> {
        Task(executorPreference: workload) {
            try await self.sleep(for: .seconds(1))
            return input
        }
    }
}

extension ManualClock {
    /// A stream of a first value, and of what comes of some work, with which it ends. A cancel reaches the work.
    func stream(
        first: Int,
        then work: @escaping @Sendable (AsyncThrowingStream<Int, any Error>.Continuation) async throws -> Void
    ) -> AsyncThrowingStream<Int, any Error> {
        AsyncThrowingStream { continuation in
            continuation.yield(first)
            let working = LibraryTask.start(clock: self, isolation: nil) { _ in
                do {
                    try await work(continuation)
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in working.cancel() }
        }
    }
}
