import IDMCaching
import IDMCore
import Synchronization

/// A server that is online or offline. It answers after a pause, so that the disk is always faster.
final class Server: Sendable {
    struct Offline: Error, CustomStringConvertible {
        let description = "the server can't be reached"
    }

    private let state = Mutex<[String]?>(nil)

    /// The answer of the server. Nil while the server is offline.
    var answer: [String]? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    var provider: some DataProvider<String, [String]> {
        ClosureDataProvider<String, [String]> { _ in
            try await Task.sleep(for: .milliseconds(300))
            guard let answer = self.answer else { throw Offline() }
            return answer
        }
    }
}

/// A clock that the sample sets, so that every run prints the same ages.
final class Time: Sendable {
    private let now = Mutex(Duration.seconds(1_000_000))

    var clock: CacheClock {
        CacheClock(wall: { self.now.withLock { $0 } }, steady: { self.now.withLock { $0 } })
    }

    func advance(by duration: Duration) {
        now.withLock { $0 += duration }
    }
}
