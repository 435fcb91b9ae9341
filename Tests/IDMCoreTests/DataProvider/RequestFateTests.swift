import TestSupport
import Testing

@testable import IDMCore

@Suite("The fate of requests side by side", .timeLimit(.ample))
struct RequestFateTests {
    private final class Tied: CancellableTask {
        func cancel() {}
    }

    @Test("is fulfilled once all that were started have ended")
    func fulfilled() {
        var fate = RequestFate()
        #expect(fate.isFulfilled)
        let starts = (fate.start(), fate.start())
        #expect(starts == (true, true))
        fate.end()
        #expect(!fate.isFulfilled)
        fate.end()
        #expect(fate.isFulfilled)
    }

    @Test("names the last end, if somebody waits for it", arguments: [0, 1, 3])
    func awaited(count: Int) {
        var fate = RequestFate()
        for _ in 0..<count { _ = fate.start() }
        #expect(!fate.isNextAwaited)
        fate.await()
        #expect(fate.isAwaited == (count > 0))
        let awaited = (0..<count).map { number in
            let isAwaited = fate.isNextAwaited
            if number == 0 { _ = fate.fail(Trouble.first) } else { fate.end() }
            return isAwaited
        }
        #expect(awaited == (0..<count).map { $0 == count - 1 })
        #expect(!fate.isNextAwaited)
    }

    @Test("with the first failure gives out those that were tied, once, and keeps that failure")
    func failure() {
        var fate = RequestFate()
        let tied = (0..<5).map { _ in Tied() }
        for one in tied {
            let (mayAsk, mustCancel) = (fate.start(), fate.tie(one))
            #expect(mayAsk && !mustCancel)
        }
        let cancelled = fate.fail(Trouble.first).map { $0 as? Tied }
        #expect(cancelled.count == 5)
        #expect(zip(cancelled, tied).allSatisfy { $0 === $1 })
        let cancelledLater = fate.fail(Trouble.second) + fate.cancel()
        #expect(cancelledLater.isEmpty)
        #expect(fate.failure as? Trouble == .first)
        #expect(!fate.isFulfilled)
    }

    @Test("keeps the failure that follows a cancel")
    func failureAfterCancel() {
        var fate = RequestFate()
        _ = fate.start()
        _ = fate.tie(Tied())
        let cancelled = fate.cancel()
        #expect(cancelled.count == 1)
        #expect(fate.failure == nil)
        let cancelledLater = fate.fail(Trouble.first) + fate.cancel()
        #expect(cancelledLater.isEmpty)
        #expect(fate.failure as? Trouble == .first)
    }

    @Test("that is over asks no more providers, and cancels whoever is tied late", arguments: [true, false])
    func over(_ isFailure: Bool) {
        var fate = RequestFate()
        let isFirstAsked = fate.start()
        _ = isFailure ? fate.fail(Trouble.first) : fate.cancel()
        let (isSecondAsked, mustCancel) = (fate.start(), fate.tie(Tied()))
        #expect(isFirstAsked && !isSecondAsked && mustCancel)
        // For one that isn't asked nobody waits.
        fate.await()
        #expect(fate.isAwaited == !isFailure)
    }

    @Test("doesn't keep a task that has ended before it is tied")
    func endedBefore() {
        var fate = RequestFate()
        _ = fate.start()
        fate.end()
        _ = fate.tie(Tied())
        _ = fate.start()
        _ = fate.tie(Tied())
        let cancelled = fate.cancel()
        #expect(cancelled.count == 1)
    }
}
