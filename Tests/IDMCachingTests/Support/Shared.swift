import IDMCaching
import IDMTesting
import Synchronization

/// A value that a test and what it tests both change.
final class Shared<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) {
        state = Mutex(value)
    }

    var value: Value {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    func change<R: Sendable>(_ body: @Sendable (inout Value) -> R) -> R {
        state.withLock { value in
            var copy = value
            defer { value = copy }
            return body(&copy)
        }
    }
}

/// What a store tells its hook, in words.
final class Outcomes: Sendable {
    private let heard = Watched<[String]>([])

    var words: [String] { heard.value }

    /// Waits until something was told.
    func hear(_ word: String) async throws {
        try await heard.wait { $0.contains(word) }
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

/// A clock on the wall that a test sets, beside one that only moves on.
final class WallClock: Sendable {
    private let times = Shared((wall: Duration.seconds(1_000_000), steady: Duration.zero))

    /// The clock that a store takes.
    var clock: CacheClock {
        CacheClock(wall: { self.times.value.wall }, steady: { self.times.value.steady })
    }

    var wall: Duration { times.value.wall }
    var steady: Duration { times.value.steady }

    /// Time goes by.
    func advance(by duration: Duration) {
        times.change { $0 = ($0.wall + duration, $0.steady + duration) }
    }

    /// Somebody sets the clock.
    func step(by duration: Duration) {
        times.change { $0.wall += duration }
    }
}
