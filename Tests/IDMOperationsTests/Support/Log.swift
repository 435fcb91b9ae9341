import Foundation
import IDMTesting

/// What happened, in order.
final class Log: Sendable {
    private let lines = Watched<[String]>([])

    var entries: [String] { lines.value }

    func add(_ line: String) {
        lines.change { $0.append(line) }
    }

    /// Waits until a line is there.
    func contains(_ line: String) async throws {
        try await lines.wait { $0.contains(line) }
    }

    /// Waits until the lines are as they have to be.
    func contains(_ isThere: @escaping @Sendable ([String]) -> Bool) async throws {
        try await lines.wait(until: isThere)
    }
}

extension Operation {
    /// Waits until Foundation says that the operation is finished.
    func finished() async throws {
        let isDone = Watched(false)
        completionBlock = { isDone.change { $0 = true } }
        // It may have been finished before it had the block.
        if isFinished { isDone.change { $0 = true } }
        try await isDone.wait { $0 }
    }
}

struct Offline: Error, Equatable {}
