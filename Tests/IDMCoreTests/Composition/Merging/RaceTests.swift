import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite(.timeLimit(.ample))
struct RaceTests {
    @Test(arguments: [0, 1], [false, true])
    func `the first success wins and the loser is cancelled`(winner: Int, isDeaf: Bool) async throws {
        let racers = (0..<2).map { _ in ControlledDataProvider<Int, Int>(reactsToCancel: !isDeaf) }
        let task = Task { try await racers[0].race(with: racers[1]).request(1) }
        let requests = [try await racers[0].waitForRequest(), try await racers[1].waitForRequest()]

        requests[winner].answer(winner)

        #expect(try await task.value == winner)
        try await requests[1 - winner].waitUntilCancelled()
        requests[1 - winner].answer(7)
    }

    @Test(arguments: [0, 1])
    func `a race of two failures throws the last error`(last: Int) async throws {
        let (clock, racers) = (ManualClock(), (0..<2).map { _ in ControlledDataProvider<Int, Int>() })
        let task = Task(executorPreference: clock.executor) { try await racers[0].race(with: racers[1]).request(1) }
        let requests = [try await racers[0].waitForRequest(), try await racers[1].waitForRequest()]

        requests[1 - last].fail(Trouble.first)
        await clock.run()
        requests[last].fail(Trouble.second)

        await #expect(throws: Trouble.second) { try await task.value }
    }

    @Test(arguments: [false, true])
    func `a cancelled race cancels both and ends at once`(isDeaf: Bool) async throws {
        let racers = (0..<2).map { _ in ControlledDataProvider<Int, Int>(reactsToCancel: !isDeaf) }
        let task = Task { try await racers[0].race(with: racers[1]).request(1) }
        let requests = [try await racers[0].waitForRequest(), try await racers[1].waitForRequest()]

        task.cancel()

        await #expect(throws: CancellationError.self) { try await task.value }
        for request in requests {
            try await request.waitUntilCancelled()
            request.answer(1)
        }
    }

    @Test @MainActor func `a rival is not asked after an answer in the caller's turn`() async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let rival = FailingAtFirst(0)

        #expect(try await Doubler().race(with: rival).request(1) == 2 && rival.count == 0)
    }
}
