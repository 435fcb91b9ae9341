import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("The delegate queue of a session", .timeLimit(.ample))
struct TransportSessionTests {
    @Test("delegate calls and reads of files run in order")
    func order() async {
        let queues = SessionQueues()
        let isHeld = DispatchGroup()
        isHeld.enter()
        let order = await withCheckedContinuation { continuation in
            let order = Mutex<[Int]>([])
            queues.delegate.addOperation { isHeld.wait() }
            for index in 0..<200 { queues.delegate.addOperation { order.withLock { $0.append(index) } } }
            queues.delegate.addOperation {
                queues.files.async { continuation.resume(returning: order.withLock { $0 }) }
            }
            isHeld.leave()
        }
        #expect(order == Array(0..<200))
    }

    // Received bytes would accumulate in memory: the network doesn't wait for a processor.
    @Test("delegate calls run while all shared threads are busy")
    func busyPool() async {
        let hasRun = Atomic(false)
        let isLate = Atomic(false)
        let end = ContinuousClock.now + .seconds(20)
        let queues = SessionQueues()
        await withCheckedContinuation { continuation in
            for _ in 0..<64 {
                DispatchQueue.global().async {
                    while !hasRun.load(ordering: .relaxed), !isLate.load(ordering: .relaxed) {
                        if ContinuousClock.now > end { isLate.store(true, ordering: .relaxed) }
                    }
                }
            }
            queues.delegate.addOperation {
                hasRun.store(true, ordering: .relaxed)
                continuation.resume()
            }
        }
        let wasLate = isLate.load(ordering: .relaxed)
        #expect(!wasLate)
    }
}
