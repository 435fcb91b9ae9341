internal import Dispatch
internal import IDMCore

/// Runs the jobs of an actor on a queue of its own, whose thread may wait for a disk. Threads of the cooperative pool
/// never do.
///
/// A tracker of the task that makes it is notified of each job, from its submission to its end.
final class FileThread: SerialExecutor {
    private let queue: DispatchQueue
    private let watch = LibraryTask.watch

    init(_ label: String) {
        queue = DispatchQueue(label: label)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        watch?.beginActivity()
        queue.async {
            job.runSynchronously(on: self.asUnownedSerialExecutor())
            self.watch?.endActivity()
        }
    }
}

extension DispatchQueue {
    /// Runs work after everything before it, and returns its result.
    func perform<R: Sendable>(_ work: @escaping @Sendable () -> R) async -> R {
        await withUnsafeContinuation { continuation in async { continuation.resume(returning: work()) } }
    }
}
