internal import Dispatch
internal import Foundation

/// The queue on which a session tells what happens, with bounds to what waits there.
///
/// On Linux a session adds a block for each piece of a body, from the thread on which it serves the network, and has no
/// ear for a delegate that is behind: what the disk can't take at once would pile up in memory. To make that thread
/// wait is the one way to let the network wait.
///
/// It waits for a moment, and never for good: what runs on the queue may ask that thread for something and wait for the
/// answer, as a refused challenge does, and then each would wait for the other. Once the moment has passed, nobody
/// waits until the queue has caught up. A disk that is slow is waited for longer, half a second, and not for good
/// either: who makes a request waits for the session's thread.
final class TellingQueue: OperationQueue, @unchecked Sendable {
    // Unchecked as its superclass is: all that it adds are constants that may go anywhere.
    private let backlog: Backlog
    /// With a thread of its own, which may wait for a disk. Those that others share mustn't; and while all of them are
    /// busy, what comes would pile up.
    private let blocks = DispatchQueue(label: "IDMHTTP.URLSessionTransport.telling")

    /// - Parameters:
    ///   - limit: How many blocks may wait.
    ///   - patience: How long whoever adds one waits for space: once, and up to five times where a disk is at work.
    init(limit: Int = 256, patience: DispatchTimeInterval = .milliseconds(100)) {
        backlog = Backlog(limit: limit, patience: patience)
        super.init()
        maxConcurrentOperationCount = 1
        underlyingQueue = blocks
    }

    #if canImport(FoundationNetworking)
    // Goes where it would have gone, without an operation around it, which costs more than the block does.
    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        backlog.enter()
        blocks.async { [backlog] in
            block()
            backlog.leave()
        }
    }
    #endif

    /// Does what may take its time and doesn't need the session's thread. To be called on this queue.
    func work<R>(_ body: () throws -> R) rethrows -> R {
        try backlog.work(body)
    }

    /// Adds work of our own, which never waits.
    func addInner(_ work: @escaping @Sendable () -> Void) {
        blocks.async(execute: work)
    }
}
