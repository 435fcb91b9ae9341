import IDMCore
import Synchronization

// 1. What is to be done, as providers. Each knows its own input and output, and nothing of the order.

struct Categories: DataProvider {
    func request(_ input: Void) async throws -> [String] { ["books", "music", "travel"] }
}

struct Notifications: DataProvider {
    let store: Store

    /// One for each category that has been stored by now.
    func request(_ input: Void) async throws -> [String] {
        store.lines.map { "news about \($0)" }
    }
}

/// Keeps lines, and answers how many it has.
final class Store: DataProvider {
    private let kept = Mutex<[String]>([])

    var lines: [String] { kept.withLock { $0 } }

    func request(_ lines: [String]) async throws -> Int {
        kept.withLock { kept in
            kept += lines
            return kept.count
        }
    }
}

struct Finish: DataProvider {
    let store: Store

    func request(_ count: Int) async throws -> String {
        "synchronized, \(count) lines: " + store.lines.joined(separator: ", ")
    }
}
