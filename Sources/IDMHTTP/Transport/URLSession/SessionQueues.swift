internal import Dispatch

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
