import Foundation
import Synchronization

/// Opens once, for a thread that stands still before it.
///
/// Not an `NSConditionLock`: outside of Apple's platforms, to wait for that without a limit ends the program.
final class ThreadGate: Sendable {
    private let condition = NSCondition()
    private let isOpen = Atomic(false)

    func open() {
        condition.lock()
        isOpen.store(true, ordering: .releasing)
        condition.broadcast()
        condition.unlock()
    }

    func wait() {
        condition.lock()
        while !isOpen.load(ordering: .acquiring) { condition.wait() }
        condition.unlock()
    }
}
