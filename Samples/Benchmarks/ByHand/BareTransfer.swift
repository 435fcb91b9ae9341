import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The simplest download and upload: a session whose delegate writes the received bytes to a file, or sends a file.
/// Checks nothing, and resumes nothing.
final class BareTransfer: NSObject, URLSessionDataDelegate {
    private struct State {
        var file: FileHandle?
        var count = 0
        var waiter: CheckedContinuation<Int, any Error>?
    }

    private let state = Mutex(State())

    /// Downloads a file. Returns the number of bytes that were written.
    func download(_ url: URL, to path: String, in session: URLSession) async throws -> Int {
        guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path)
        else { throw Fault("a file could not be written") }
        state.withLock { $0.file = file }
        let count = try await run(session.dataTask(with: url))
        try file.close()
        return count
    }

    /// Uploads a file. Returns the number of bytes in the response.
    func upload(_ file: URL, to url: URL, in session: URLSession) async throws -> Int {
        var request = URLRequest(url: url)
        request.httpMethod = "PUT"
        return try await run(session.uploadTask(with: request, fromFile: file))
    }

    private func run(_ task: URLSessionTask) async throws -> Int {
        try await withCheckedThrowingContinuation { waiter in
            state.withLock { $0.waiter = waiter }
            task.resume()
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let file = state.withLock { state in
            state.count += data.count
            return state.file
        }
        try? file?.write(contentsOf: data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let (waiter, count) = state.withLock { ($0.waiter, $0.count) }
        if let error { waiter?.resume(throwing: error) } else { waiter?.resume(returning: count) }
    }
}
