import Dispatch
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A hand-written session with a delegate that counts the received bytes.
final class BareSession: Sendable {
    private let delegate = Delegate()
    private let session: URLSession

    init() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: queue)
    }

    /// The length of a body. A pausing delegate blocks at the first chunk until the gate opens.
    func count(_ url: URL, pausing pause: (@Sendable () async throws -> Void)? = nil) async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            let task = session.dataTask(with: URLRequest(url: url))
            delegate.add(task, pause: pause, continuation)
            task.resume()
        }
    }

    private final class Delegate: NSObject, URLSessionDataDelegate, Sendable {
        private struct Transfer {
            var count = 0
            var pause: (@Sendable () async throws -> Void)?
            let end: CheckedContinuation<Int, any Error>
        }

        private let transfers = Mutex<[Int: Transfer]>([:])

        func add(
            _ task: URLSessionTask, pause: (@Sendable () async throws -> Void)?,
            _ end: CheckedContinuation<Int, any Error>
        ) {
            transfers.withLock { $0[task.taskIdentifier] = Transfer(pause: pause, end: end) }
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            let pause = transfers.withLock { transfers in
                transfers[dataTask.taskIdentifier]?.count += data.count
                return transfers[dataTask.taskIdentifier]?.pause.take()
            }
            guard let pause else { return }
            let isOver = DispatchSemaphore(value: 0)
            Task {
                try? await pause()
                isOver.signal()
            }
            isOver.wait()
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            let transfer = transfers.withLock { $0.removeValue(forKey: task.taskIdentifier) }
            if let error {
                transfer?.end.resume(throwing: error)
            } else {
                transfer?.end.resume(returning: transfer?.count ?? 0)
            }
        }
    }
}
