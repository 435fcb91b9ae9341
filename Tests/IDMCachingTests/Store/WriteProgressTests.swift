import IDMCore
import TestSupport
import Testing

@testable import IDMCaching

@Suite("The progress of a write", .timeLimit(.ample))
struct WriteProgressTests {
    @Test(
        "A write that waits for another one is held up with it, before or after it begins to wait",
        arguments: [false, true])
    func heldUp(isBefore: Bool) async throws {
        let (later, earlier) = (WriteProgress(), WriteProgress())
        if isBefore { later.holdUp() }
        async let waiting: Void = later.holdBack(earlier)
        if !isBefore { later.holdUp() }
        await earlier.isOverOrHeldUp.becomesTrueOrCancelled()
        later.end()
        try await waiting
        #expect(await earlier.isOverOrHeldUp.next(after: 0)?.value == true)
    }

    @Test("A write ends once, and those that wait for it end as it does")
    func ends() async {
        let (later, earlier) = (WriteProgress(), WriteProgress())
        later.end(Offline())
        later.end()
        await #expect(throws: Offline.self) { try await later.holdBack(earlier) }
        #expect(await later.isOverOrHeldUp.next(after: 0)?.value == true)
    }

    @Test("A write that begins while others are held up is so too, and one that has ended isn't")
    func registry() async {
        let (holdUps, before, after) = (HoldUps(), WriteProgress(), WriteProgress())
        let gone = WriteProgress()
        for write in [before, gone] { holdUps.add(write) }
        holdUps.remove(gone)
        holdUps.begin()
        holdUps.add(after)
        holdUps.end()
        let late = WriteProgress()
        holdUps.add(late)
        var isHeldUp: [Bool?] = []
        for write in [before, after, gone, late] { isHeldUp.append(await write.isOverOrHeldUp.next(after: 0)?.value) }
        #expect(isHeldUp == [true, true, false, false])
    }
}
