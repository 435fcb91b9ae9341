import IDMCaching
import IDMCore
import IDMTesting

/// A store that takes its time: each read and each write waits until the test ends it.
final class ControlledStore: CacheStore {
    let ledger: CacheLedger<String, String>
    let reads = ControlledDataProvider<String, CacheEntry<String>?>(hearsCancel: false)
    let writes = ControlledDataProvider<String, Void>(hearsCancel: false)
    /// What has landed.
    let memory = MemoryCache<String, String>(countLimit: 100)
    /// How many writes have ended.
    let written = Watched(0)

    init(clock: CacheClock = .system, _ outcomes: Outcomes = Outcomes()) {
        ledger = CacheLedger(clock: clock, onOutcome: outcomes.hook())
    }

    func get(_ key: String) async throws -> CacheEntry<String>? {
        try await reads.request(key)
    }

    func set(_ entry: CacheEntry<String>, for key: String, permit: CachePermit<String, String>) async throws {
        try await writes.request(key)
        memory.set(entry, for: key, permit: permit)
        written.change { $0 += 1 }
    }

    func remove(_ key: String) async throws { memory.remove(key) }
    func removeAll(tagged tag: String) async throws { memory.removeAll(tagged: tag) }
    func removeAll() async throws { memory.removeAll() }
}

/// A store that fails at everything.
struct FailingStore: CacheStore {
    struct Broken: Error, CustomStringConvertible { let description = "broken" }

    let ledger: CacheLedger<String, String>

    init(_ outcomes: Outcomes) {
        ledger = CacheLedger(onOutcome: outcomes.hook())
    }

    func get(_ key: String) async throws -> CacheEntry<String>? { throw Broken() }
    func set(_ entry: CacheEntry<String>, for key: String, permit: CachePermit<String, String>) async throws {
        throw Broken()
    }
    func remove(_ key: String) async throws { throw Broken() }
    func removeAll(tagged tag: String) async throws { throw Broken() }
    func removeAll() async throws { throw Broken() }
}

struct Offline: Error, Equatable, CustomStringConvertible {
    let description = "offline"
}

extension IntegrationCall where Output == String {
    /// This call, with everything that is heard of it in a log.
    func heard(
        in log: Shared<[String]>, isolation: isolated (any Actor)? = #isolation
    ) -> IntegrationCall<String> {
        // The isolation is captured, so that the handlers are written on the caller's actor.
        onBeginning {
            _ = isolation
            log.value += ["begin"]
        }
        .onSuccess { value in
            _ = isolation
            log.value += [value]
        }
        .onError { error in
            _ = isolation
            log.value += ["error \(error)"]
        }
        .onCancel { reason in
            _ = isolation
            log.value += ["cancel \(reason)"]
        }
        .onCompletion {
            _ = isolation
            log.value += ["completion"]
        }
    }
}

extension StreamDataProvider where Output: Sendable {
    /// Everything that comes of one request, an error at the end included.
    func everything(for input: Input) async -> [String] {
        var words: [String] = []
        do {
            for try await value in values(for: input) { words.append("\(value)") }
        } catch {
            words.append("error \(error)")
        }
        return words
    }
}
