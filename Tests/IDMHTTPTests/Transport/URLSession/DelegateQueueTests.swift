import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("The delegate queue of a session", .timeLimit(.ample))
struct DelegateQueueTests {
    #if canImport(FoundationNetworking)
    /// Adds as many blocks to a queue, from a thread that may be made to wait. The first block keeps the queue until a
    /// number of them has been added.
    private func mostWaiting(in queue: DelegateQueue, adding count: Int, heldUntil held: Int) async -> Int {
        let added = Atomic(0)
        let isHeld = DispatchGroup()
        isHeld.enter()
        return await withCheckedContinuation { continuation in
            let tally = Mutex((ran: 0, most: 0))
            Thread.detachNewThread {
                for index in 0..<count {
                    if index == held { isHeld.leave() }
                    added.add(1, ordering: .sequentiallyConsistent)
                    queue.addOperation {
                        if index == 0 { isHeld.wait() }
                        let most = tally.withLock { tally in
                            tally.most = max(tally.most, added.load(ordering: .sequentiallyConsistent) - tally.ran)
                            tally.ran += 1
                            return tally.most
                        }
                        if index == count - 1 { continuation.resume(returning: most) }
                    }
                }
            }
        }
    }

    @Test("blocks of the session and its exchanges run in order")
    func order() async {
        let queue = DelegateQueue()
        let isHeld = DispatchGroup()
        isHeld.enter()
        let order = await withCheckedContinuation { continuation in
            let order = Mutex<[Int]>([])
            queue.addOperation { isHeld.wait() }
            for index in 0..<200 {
                let work = { @Sendable in order.withLock { $0.append(index) } }
                if index.isMultiple(of: 2) { queue.addOperation(work) } else { queue.addInner(work) }
            }
            queue.addInner { continuation.resume(returning: order.withLock { $0 }) }
            isHeld.leave()
        }
        #expect(order == Array(0..<200))
    }

    @Test("a full queue blocks its producer until it has caught up")
    func bounded() async {
        let queue = DelegateQueue(limit: 8, patience: .never)
        #expect(await mostWaiting(in: queue, adding: 5_000, heldUntil: 8) <= 9)
    }

    // As it is when Foundation refuses a challenge: the block waits for the thread that adds.
    @Test("a block that waits for the producer ends its wait")
    func impatient() async {
        let queue = DelegateQueue(limit: 8, patience: .milliseconds(1))
        #expect(await mostWaiting(in: queue, adding: 5_000, heldUntil: 100) >= 100)
    }
    #endif

    // What comes meanwhile would pile up in memory: the network doesn't wait for a processor.
    @Test("blocks run while all shared threads are busy")
    func busyPool() async {
        let isTold = Atomic(false)
        let isLate = Atomic(false)
        let end = ContinuousClock.now + .seconds(20)
        await withCheckedContinuation { continuation in
            for _ in 0..<64 {
                DispatchQueue.global().async {
                    while !isTold.load(ordering: .relaxed), !isLate.load(ordering: .relaxed) {
                        if ContinuousClock.now > end { isLate.store(true, ordering: .relaxed) }
                    }
                }
            }
            DelegateQueue().addInner {
                isTold.store(true, ordering: .relaxed)
                continuation.resume()
            }
        }
        let wasLate = isLate.load(ordering: .relaxed)
        #expect(!wasLate)
    }

    @Test("a queue that has caught up blocks again")
    func patience() {
        let gate = BackpressureGate(limit: 4, patience: .milliseconds(1))
        for _ in 0..<4 { gate.enter() }
        #expect(gate.isPatient)
        // Nobody leaves, so this one waits in vain, and those after it don't.
        for _ in 0..<100 { gate.enter() }
        #expect(!gate.isPatient)
        for _ in 0..<101 { gate.leave() }
        #expect(!gate.isPatient)
        gate.leave()
        #expect(gate.isPatient)
    }

    @Test("a producer waits while work is in progress")
    func work() throws {
        var state = BackpressureStateMachine(limit: 1)
        _ = state.enter(1, mayWait: true)
        let entry = state.enter(1, mayWait: true)
        var wait = try #require(entry.waits)
        var waitsOn: [Bool] = []
        state.work(true)
        for _ in 0..<2 { waitsOn.append(state.waitsOn(&wait)) }
        state.work(false)
        for _ in 0..<2 { waitsOn.append(state.waitsOn(&wait)) }
        #expect(entry.shuts && waitsOn == [true, true, true, false])
        #expect(!state.isPatient)
        // The next one finds nobody patient, and goes in.
        let next = state.enter(1, mayWait: true)
        #expect(!next.shuts && next.waits == nil && state.count == 2)
    }

    @Test("a producer's wait has a limit despite continuous work")
    func endlessWork() throws {
        var state = BackpressureStateMachine(limit: 1)
        _ = state.enter(1, mayWait: true)
        let entry = state.enter(1, mayWait: true)
        var wait = try #require(entry.waits)
        state.work(true)
        var turns = 1
        while state.waitsOn(&wait), turns < 100 { turns += 1 }
        #expect(turns == state.mostTurns && !state.isPatient)
    }

    // A process that stands still for a while, which takes one turn, has shown nothing.
    @Test("a producer's wait has a limit of turns without work")
    func idleTurns() throws {
        var state = BackpressureStateMachine(limit: 1, idleTurns: 3)
        _ = state.enter(1, mayWait: true)
        var wait = try #require(state.enter(1, mayWait: true).waits)
        var waitsOn: [Bool] = []
        for _ in 0..<2 { waitsOn.append(state.waitsOn(&wait)) }
        state.work(true)
        state.work(false)
        for _ in 0..<4 { waitsOn.append(state.waitsOn(&wait)) }
        #expect(waitsOn == [true, true, true, true, true, false] && !state.isPatient)

        let opens = state.leave(1)
        #expect(opens)
        _ = state.enter(1, mayWait: true)
        wait = try #require(state.enter(1, mayWait: true).waits)
        state.work(true)
        var turns = 1
        while state.waitsOn(&wait), turns < 100 { turns += 1 }
        #expect(turns == state.mostTurns && !state.isPatient)
        // Who waits for one turn where there is nothing waits for five where there is work.
        #expect(state.mostTurns == 7 && BackpressureStateMachine(limit: 1).mostTurns == 5)

        // The same at a real door.
        let gate = BackpressureGate(limit: 1, patience: .milliseconds(1), turns: 3)
        for _ in 0..<2 { gate.enter() }
        #expect(!gate.isPatient)
        gate.leave(2)
        #expect(gate.isPatient)
    }

    @Test("work counts until all of several have ended")
    func workers() throws {
        var state = BackpressureStateMachine(limit: 1)
        _ = state.enter(1, mayWait: true)
        var wait = try #require(state.enter(1, mayWait: true).waits)
        for begins in [true, true, false] { state.work(begins) }
        var waitsOn: [Bool] = []
        for _ in 0..<2 { waitsOn.append(state.waitsOn(&wait)) }
        state.work(false)
        for _ in 0..<2 { waitsOn.append(state.waitsOn(&wait)) }
        #expect(waitsOn == [true, true, true, false])
    }

    @Test("the pending amount is the sum of all weights")
    func weights() {
        let gate = BackpressureGate(limit: 10, patience: .milliseconds(1))
        gate.enter(10)
        #expect(gate.isPatient)
        gate.enter(2)
        #expect(!gate.isPatient)
        gate.leave(6)
        #expect(!gate.isPatient)
        gate.leave(1)
        #expect(gate.isPatient)
    }

    @Test("an empty or ended gate admits any weight")
    func heavy() {
        let gate = BackpressureGate(limit: 10, patience: .never)
        gate.enter(100)
        gate.leave(100)
        gate.enter(3)
        gate.end()
        gate.enter(100)
        gate.enter(100)
        #expect(gate.isPatient)
    }
}
