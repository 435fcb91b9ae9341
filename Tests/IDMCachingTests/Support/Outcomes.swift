import IDMCaching
import IDMTesting

/// What a store tells its hook, in words.
final class Outcomes: Sendable {
    private let heard = Observed<[String]>([])

    var words: [String] { heard.value }

    /// Waits until something was told.
    func hear(_ word: String) async throws {
        try await heard.wait { $0.contains(word) }
    }

    /// Waits until something was told so many times.
    func hear(_ word: String, times: Int) async throws {
        try await heard.wait { $0.count { $0 == word } >= times }
    }

    func count(_ word: String) -> Int { words.filter { $0.hasPrefix(word) }.count }

    func hook<Key>() -> @Sendable (CachingOutcome<Key>) -> Void {
        { outcome in
            let word =
                switch outcome {
                case .hit(let key, let age): "hit \(key) \(age.map { "\($0.components.seconds)" } ?? "?")"
                case .stale(let key, let age): "stale \(key) \(age.map { "\($0.components.seconds)" } ?? "?")"
                case .miss(let key): "miss \(key)"
                case .joined(let key): "joined \(key)"
                case .written(let key): "written \(key)"
                case .dropped(let key): "dropped \(key)"
                case .evicted(let count, let reason): "evicted \(count) \(reason)"
                case .damaged(let key, let damage): "damaged \(key.map { "\($0)" } ?? "?") \(damage)"
                case .failed(let key, let error): "failed \(key.map { "\($0)" } ?? "?") \(error)"
                }
            self.heard.change { $0.append(word) }
        }
    }
}
