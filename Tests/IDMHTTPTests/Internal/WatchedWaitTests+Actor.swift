import IDMCore
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// Who tells elsewhere that it has come is on its way once more, and nobody knows of that.
extension WatchedWaitTests {
    /// What nobody watches, for as long as its task isn't cancelled.
    @Sendable private static func unwatched() async throws {
        for await _ in AsyncStream<Void>.makeStream().stream {}
        throw CancellationError()
    }

    @Test("an unobserved wait on an actor ends on that actor")
    func silence() async throws {
        let (watch, clock) = (ArrivalWatch(), ManualClock())
        let waiting = LibraryTask.$executor.withValue(watch) {
            Task {
                try await Timeout(clock).run(.seconds(1)) { _ in try await Self.unwatched() }
            }
        }
        try await clock.waitForSleepers(1)
        await clock.advance(by: .seconds(1))
        await #expect(throws: Timeout.Expired.self) { try await waiting.value }
        #expect(watch.onMain == [true])
    }
}
