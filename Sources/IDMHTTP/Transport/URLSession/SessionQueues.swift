internal import Foundation

/// The two queues of a session, each of which does one thing after the other.
///
/// Neither may make anybody wait. On Linux the session's own thread adds to the first one, and what runs on the queue may
/// ask that thread for something and wait for the answer, as a refused challenge does: with bounds to what the queue takes,
/// each would wait for the other, and everybody else for both.
struct SessionQueues: Sendable {
    /// On which the session tells what happens, and on which files are written and read. What has come waits here.
    let telling = OperationQueue(serial: "telling")
    /// On which transfers are stopped. That waits for the session, so that whoever cancels can't do it on the spot; and it
    /// can't wait behind what has come, which would be most of a body by then.
    let stopping = OperationQueue(serial: "stopping")
}

extension OperationQueue {
    fileprivate convenience init(serial name: String) {
        self.init()
        maxConcurrentOperationCount = 1
        self.name = "IDMHTTP.URLSessionTransport.\(name)"
    }
}
