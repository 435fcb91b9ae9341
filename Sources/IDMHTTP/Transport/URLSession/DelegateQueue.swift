internal import Dispatch
internal import Foundation

/// The delegate queue of a session, with a limit for waiting blocks.
///
/// On Linux a session adds a block for each piece of a body, from its network thread, and doesn't wait for a slow
/// delegate: pieces that the disk can't take at once would accumulate in memory. Blocking that thread is the only way
/// to slow down the network.
///
/// It is blocked for a moment only: a block on the queue may wait for that thread, as a rejected challenge does, and
/// both would wait for each other. After a wait that timed out, no block waits until the queue has caught up. For a
/// slow disk the wait is up to half a second, since new requests need the session's thread.
final class DelegateQueue: OperationQueue, @unchecked Sendable {
    // Unchecked as its superclass is: all that it adds are constants that may go anywhere.
    private let gate: BackpressureGate
    /// With a thread of its own, which may wait for a disk. Those that others share mustn't; and while all of them are
    /// busy, what comes would pile up.
    private let blocks = DispatchQueue(label: "IDMHTTP.URLSessionTransport.delegate")

    /// - Parameters:
    ///   - limit: The number of blocks that may wait.
    ///   - patience: The wait for space: once, and up to five times while a disk is at work.
    init(limit: Int = 256, patience: DispatchTimeInterval = .milliseconds(100)) {
        gate = BackpressureGate(limit: limit, patience: patience)
        super.init()
        maxConcurrentOperationCount = 1
        underlyingQueue = blocks
    }

    #if canImport(FoundationNetworking)
    // Goes where it would have gone, without an operation around it, which costs more than the block does.
    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        gate.enter()
        blocks.async { [gate] in
            block()
            gate.leave()
        }
    }
    #endif

    /// Does what may take its time and doesn't need the session's thread. To be called on this queue.
    func work<R>(_ body: () throws -> R) rethrows -> R {
        try gate.work(body)
    }

    /// Adds work of our own, which never waits.
    func addInner(_ work: @escaping @Sendable () -> Void) {
        blocks.async(execute: work)
    }
}

/// The serial queues of a session.
struct SessionQueues: Sendable {
    /// The queue of delegate calls, and of reads and writes of files. Received bytes wait here.
    let delegate = DelegateQueue()
    /// The queue on which tasks are made and resumed. Both wait for the session: on a shared thread they would block
    /// others.
    let start = DispatchQueue(label: "IDMHTTP.URLSessionTransport.start")
    /// The queue on which tasks are cancelled. A cancel waits for the session, so it can't run on the caller's thread;
    /// nor on the delegate queue, where it would wait behind received bytes.
    let cancel = DispatchQueue(label: "IDMHTTP.URLSessionTransport.cancel")
    /// On which a reader who has waited for more gets what there is. Nothing on it waits, and an app may keep all the
    /// threads busy that others share.
    let flush = DispatchQueue(label: "IDMHTTP.URLSessionTransport.flush")
}
