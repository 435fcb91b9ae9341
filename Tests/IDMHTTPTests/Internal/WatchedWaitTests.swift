import IDMCore
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// Whoever is let go on may be on the way for a while, and nothing has come of it yet.
@Suite("Waits without activity on a clock", .timeLimit(.ample))
@MainActor
struct WatchedWaitTests {
    /// - Parameters:
    ///   - wait: Waits on the main actor.
    ///   - letGoOn: Lets it go on, in this turn.
    private func expectWatched(
        _ wait: @escaping @MainActor () async throws -> Void, letGoOn: () -> Void
    ) async throws {
        try await TestScope.run {
            let clock = ManualClock()
            let waiting = Task { try await wait() }
            await clock.rest()
            #expect(clock.isAtRest)
            letGoOn()
            #expect(!clock.isAtRest)
            try await waiting.value
            await clock.rest()
            #expect(clock.isAtRest)
        }
    }

    @Test("while who waits for the first result is on the way")
    func firstResult() async throws {
        let first = OneShot<Void>()
        try await expectWatched {
            try await first.value()
        } letGoOn: {
            first.end(.success(()))
        }
    }

    @Test("while who follows a value is on the way, also to its end", arguments: [false, true])
    func latestValue(isEnd: Bool) async throws {
        let latest = LatestValue("old")
        try await expectWatched {
            let next = await latest.next(after: 1)
            #expect(next?.value == (isEnd ? nil : "new"))
        } letGoOn: {
            if isEnd { latest.close() } else { latest.set("new") }
        }
    }

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
