import IDMCore
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("Time limits", .timeLimit(.ample))
struct TimeoutTests {
    @Test("work that is cancelled before its turn doesn't begin")
    func cancelledBeforeItsTurn() async throws {
        let (jobs, log) = (HeldJobs(), Log())
        let timeout = Timeout(ManualClock())
        let task = LibraryTask.$executor.withValue(jobs) {
            Task { try await timeout.run(.seconds(60)) { _ in log.add("begun") } }
        }
        try await jobs.areWaiting(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        jobs.run()
        #expect(log.entries == [])
    }
}
