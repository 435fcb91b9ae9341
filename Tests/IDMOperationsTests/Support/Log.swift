import Foundation
import Synchronization

/// What happened, in order.
final class Log: Sendable {
    private let lines = Mutex<[String]>([])
    private let added = AsyncStream<Void>.makeStream()

    var entries: [String] { lines.withLock { $0 } }

    func add(_ line: String) {
        lines.withLock { $0.append(line) }
        added.continuation.yield()
    }

    /// Waits until a line is there.
    func contains(_ line: String) async {
        await contains { $0.contains(line) }
    }

    /// Waits until the lines are as they have to be.
    func contains(_ isThere: ([String]) -> Bool) async {
        if isThere(entries) { return }
        for await _ in added.stream where isThere(entries) { return }
    }
}

extension Operation {
    /// Waits until Foundation says that the operation is finished.
    func finished() async {
        if isFinished { return }
        await withCheckedContinuation { continuation in
            let done = Mutex(false)
            let resume: @Sendable () -> Void = {
                let isFirst = done.withLock { done in
                    defer { done = true }
                    return !done
                }
                if isFirst { continuation.resume() }
            }
            completionBlock = resume
            if isFinished { resume() }
        }
    }
}

struct Offline: Error, Equatable {}
