/// Runs jobs one at a time, in FIFO order: an `AsyncStream` and a task.
final class StreamQueue: Sendable {
    typealias Work = @Sendable () async -> Void

    private let continuation: AsyncStream<Work>.Continuation

    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Work.self)
        self.continuation = continuation
        Task {
            for await work in stream { await work() }
        }
    }

    deinit {
        continuation.finish()
    }

    func add(_ work: @escaping Work) {
        continuation.yield(work)
    }
}
