internal import Dispatch

/// Runs the jobs of an actor on a queue of its own, whose thread may wait for a disk: none of the cooperative pool
/// does.
final class FileThread: SerialExecutor {
    private let queue: DispatchQueue

    init(_ label: String) {
        queue = DispatchQueue(label: label)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
