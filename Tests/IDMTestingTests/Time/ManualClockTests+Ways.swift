import IDMCore
import IDMTesting
import TestSupport
import Testing

/// What a clock knows of who is on the way back to the main actor.
extension ManualClockTests {
    @Test("knows of a retry that lets others go on")
    @MainActor
    func retryOnItsWay() async throws {
        try await TestScope.run {
            let answers = (0..<17).map { $0 < 16 ? Result<Int, any Error>.failure(Trouble.first) : .success(1) }
            let provider = StubDataProvider<Int, Int>(answers: answers).retry(16)
            let ways = try await HeldWays.known(to: ManualClock()) { _ = try await provider.request(1) }
            #expect(ways.seen > 0 && ways.unseen == 0)
        }
    }
}
