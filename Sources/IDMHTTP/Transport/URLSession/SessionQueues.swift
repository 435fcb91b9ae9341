internal import Foundation
internal import Synchronization

/// The two queues of a session, each of which does one thing after the other.
struct SessionQueues: Sendable {
    /// On which the session tells what happens, and on which files are written and read. What has come waits here.
    let telling = TellingQueue()
    /// On which transfers are stopped. That waits for the session, so that whoever cancels can't do it on the spot; and it
    /// can't wait behind what has come, which would be most of a body by then.
    let stopping = OperationQueue(serial: "stopping")
}

extension OperationQueue {
    fileprivate convenience init(serial name: String) {
        self.init()
        be(serial: name)
    }

    fileprivate func be(serial name: String) {
        maxConcurrentOperationCount = 1
        self.name = "IDMHTTP.URLSessionTransport.\(name)"
    }
}

/// The queue on which a session tells what happens, with bounds to what may wait there.
///
/// On Linux a session adds a block for each piece of a body, from the thread on which it serves the network, and has no ear for
/// a delegate that is behind: what the disk can't take at once would pile up in memory. Making that thread wait is the one
/// way to let the network wait. It waits until a piece is dealt with, which waits for nobody but the disk.
final class TellingQueue: OperationQueue, @unchecked Sendable {
    private let backlog = Backlog(limit: 128)

    override init() {
        super.init()
        be(serial: "telling")
    }

    #if canImport(FoundationNetworking)
    /// Adds what a session tells.
    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        backlog.enter()
        super.addOperation { [backlog] in
            block()
            backlog.leave()
        }
    }
    #endif

    /// Adds work of our own, which never waits.
    func addInner(_ work: @escaping @Sendable () -> Void) {
        addOperations([BlockOperation(block: work)], waitUntilFinished: false)
    }
}

/// How much waits in a queue.
private final class Backlog: Sendable {
    private let limit: Int
    private let condition = NSCondition()
    private let count = Mutex(0)

    init(limit: Int) {
        self.limit = limit
    }

    func enter() {
        condition.lock()
        while count.withLock({ $0 >= limit }) { condition.wait() }
        count.withLock { $0 += 1 }
        condition.unlock()
    }

    func leave() {
        condition.lock()
        count.withLock { $0 -= 1 }
        condition.signal()
        condition.unlock()
    }
}
