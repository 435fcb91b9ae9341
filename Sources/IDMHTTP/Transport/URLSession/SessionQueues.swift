internal import Dispatch

/// The queues of a session, each of which does one thing after the other.
struct SessionQueues: Sendable {
    /// On which the session tells what happens, and on which files are written and read. What has come waits here.
    let telling = TellingQueue()
    /// On which transfers are made and begun. That waits for the session as well: on a thread that others share,
    /// whoever could go on meanwhile with what has come would wait, too.
    let making = DispatchQueue(label: "IDMHTTP.URLSessionTransport.making")
    /// On which transfers are stopped. That waits for the session, so that whoever cancels can't do it on the spot; and
    /// it can't wait behind what has come, which would be most of a body by then.
    let stopping = DispatchQueue(label: "IDMHTTP.URLSessionTransport.stopping")
    /// On which a reader who has waited for more gets what there is. Nothing on it waits, and an app may keep all the
    /// threads busy that others share.
    let flushing = DispatchQueue(label: "IDMHTTP.URLSessionTransport.flushing")
}
