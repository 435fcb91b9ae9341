internal import Dispatch

/// The serial queues of a session.
struct SessionQueues: Sendable {
    /// The queue of delegate calls, and of reads and writes of files. Received bytes wait here.
    let telling = TellingQueue()
    /// The queue on which tasks are made and resumed. Both wait for the session: on a shared thread they would block
    /// others.
    let making = DispatchQueue(label: "IDMHTTP.URLSessionTransport.making")
    /// The queue on which tasks are cancelled. A cancel waits for the session, so it can't run on the caller's thread;
    /// nor on the delegate queue, where it would wait behind received bytes.
    let stopping = DispatchQueue(label: "IDMHTTP.URLSessionTransport.stopping")
    /// On which a reader who has waited for more gets what there is. Nothing on it waits, and an app may keep all the
    /// threads busy that others share.
    let flushing = DispatchQueue(label: "IDMHTTP.URLSessionTransport.flushing")
}
