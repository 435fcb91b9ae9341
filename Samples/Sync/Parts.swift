import IDMCore
import Synchronization

// 1. The steps, as providers. Each has its own input and output, and knows no order.

struct Categories: DataProvider {
    func request(_ input: Void) async throws -> [String] { ["books", "music", "travel"] }
}

struct Notifications: DataProvider {
    let store: Store

    /// Returns one notification for each stored line.
    func request(_ input: Void) async throws -> [String] {
        store.lines.map { "news about \($0)" }
    }
}

/// Stores lines, and returns the number of stored lines.
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
