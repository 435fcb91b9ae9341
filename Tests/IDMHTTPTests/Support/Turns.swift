import Dispatch
import IDMTesting

/// Gives tasks a thread when the test says so. Who works on another one meanwhile takes none of it.
final class Turns: TaskExecutor {
    /// Those that wait for their turn.
    let jobs = Observed<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.change { $0.append(job) }
    }

    /// Waits until a turn is due, and lets it pass.
    func next() async throws {
        try await jobs.wait { !$0.isEmpty }
        let job = jobs.change { $0.removeFirst() }
        await withUnsafeContinuation { done in
            DispatchQueue.global().async {
                job.runSynchronously(on: self.asUnownedTaskExecutor())
                done.resume()
            }
        }
    }
}
