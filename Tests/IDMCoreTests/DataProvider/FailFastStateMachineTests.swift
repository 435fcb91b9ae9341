import TestSupport
import Testing

@testable import IDMCore

@Suite("The machine of requests side by side", .timeLimit(.ample))
struct FailFastStateMachineTests {
    private final class LinkedTask: CancellableTask {
        func cancel() {}
    }

    @Test("is fulfilled once all that were started have ended")
    func fulfilled() {
        var machine = FailFastStateMachine()
        #expect(machine.isFulfilled)
        let starts = (machine.start(), machine.start())
        #expect(starts == (true, true))
        machine.end()
        #expect(!machine.isFulfilled)
        machine.end()
        #expect(machine.isFulfilled)
    }

    @Test("names the last end, if somebody waits for it", arguments: [0, 1, 3])
    func awaited(count: Int) {
        var machine = FailFastStateMachine()
        for _ in 0..<count { _ = machine.start() }
        #expect(!machine.isNextAwaited)
        machine.await()
        #expect(machine.isAwaited == (count > 0))
        let awaited = (0..<count).map { number in
            let isAwaited = machine.isNextAwaited
            if number == 0 { _ = machine.fail(Trouble.first) } else { machine.end() }
            return isAwaited
        }
        #expect(awaited == (0..<count).map { $0 == count - 1 })
        #expect(!machine.isNextAwaited)
    }

    @Test("with the first failure gives out those that were linked, once, and keeps that failure")
    func failure() {
        var machine = FailFastStateMachine()
        let linked = (0..<5).map { _ in LinkedTask() }
        for one in linked {
            let (mayAsk, mustCancel) = (machine.start(), machine.add(one))
            #expect(mayAsk && !mustCancel)
        }
        let cancelled = machine.fail(Trouble.first).map { $0 as? LinkedTask }
        #expect(cancelled.count == 5)
        #expect(zip(cancelled, linked).allSatisfy { $0 === $1 })
        let cancelledLater = machine.fail(Trouble.second) + machine.cancel()
        #expect(cancelledLater.isEmpty)
        #expect(machine.failure as? Trouble == .first)
        #expect(!machine.isFulfilled)
    }

    @Test("keeps the failure that follows a cancel")
    func failureAfterCancel() {
        var machine = FailFastStateMachine()
        _ = machine.start()
        _ = machine.add(LinkedTask())
        let cancelled = machine.cancel()
        #expect(cancelled.count == 1)
        #expect(machine.failure == nil)
        let cancelledLater = machine.fail(Trouble.first) + machine.cancel()
        #expect(cancelledLater.isEmpty)
        #expect(machine.failure as? Trouble == .first)
    }

    @Test("that is over asks no more providers, and cancels whoever is linked late", arguments: [true, false])
    func over(_ isFailure: Bool) {
        var machine = FailFastStateMachine()
        let isFirstAsked = machine.start()
        _ = isFailure ? machine.fail(Trouble.first) : machine.cancel()
        let (isSecondAsked, mustCancel) = (machine.start(), machine.add(LinkedTask()))
        #expect(isFirstAsked && !isSecondAsked && mustCancel)
        // For one that isn't asked nobody waits.
        machine.await()
        #expect(machine.isAwaited == !isFailure)
    }

    @Test("doesn't keep a task that has ended before it is linked")
    func endedBefore() {
        var machine = FailFastStateMachine()
        _ = machine.start()
        machine.end()
        _ = machine.add(LinkedTask())
        _ = machine.start()
        _ = machine.add(LinkedTask())
        let cancelled = machine.cancel()
        #expect(cancelled.count == 1)
    }
}
