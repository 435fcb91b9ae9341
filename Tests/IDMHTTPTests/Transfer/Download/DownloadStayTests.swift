import IDMCore
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("The stay of a download at its part", .timeLimit(.ample))
struct DownloadStayTests {
    private let stay = DownloadStay()

    @Test("is waited for from its pause on until it is over")
    func leaving() async throws {
        #expect(stay.leaving == nil)
        try stay.begin()
        #expect(stay.leaving == nil)
        stay.end()
        let leaving = try #require(stay.leaving)
        let waits = Task { await leaving.becomesTrueOrCancelled() }
        stay.leave()
        await waits.value
        #expect(stay.leaving == nil)
    }

    @Test("doesn't begin once it was paused, and nobody waits for it")
    func ended() {
        stay.end()
        #expect(stay.leaving == nil)
        #expect(throws: CancellationError.self) { try stay.begin() }
        #expect(stay.leaving == nil)
    }

    @Test("that nobody has paused is not waited for, also when it is over")
    func notPaused() throws {
        try stay.begin()
        stay.leave()
        #expect(stay.leaving == nil)
    }
}
