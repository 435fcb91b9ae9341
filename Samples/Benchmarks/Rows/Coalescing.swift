import IDMCore
import Synchronization

/// Many equal requests at the same time.
enum Coalescing {
    static let rows: [Benchmark] = [
        .time("10,000 coalesced for one key", ofAll: 10_000, coalesced, against: sharedTask, limit: .times(4)),
        .time(
            "10,000 coalesced, each cancellable", ofAll: 10_000, coalesced, against: sharedByHand, limit: .times(1.5)),
    ]

    /// Counts its requests, and answers when the gate opens.
    private final class Counted: DataProvider {
        let gate = Gate()
        let requests = Atomic(0)

        nonisolated(nonsending) func request(_ key: String) async throws -> Int {
            requests.add(1, ordering: .relaxed)
            await gate.pass()
            return key.utf8.count
        }
    }

    private static let coalesced = Side("coalesced", proof: { $0 * 3 }) { operations in
        let provider = Counted()
        let shared = provider.coalesced()
        let total = try await Simultaneous.sum(of: operations, opening: provider.gate) {
            try await shared.request("key")
        }
        if Simultaneous.startsAtOnce {
            try Fault.unless(provider.requests.load(ordering: .relaxed), is: 1, "upstream requests")
        }
        return total
    }

    private static let sharedTask = Side("a shared Task", proof: { $0 * 3 }) { operations in
        let provider = Counted()
        let running = Mutex<Task<Int, any Error>?>(nil)
        return try await Simultaneous.sum(of: operations, opening: provider.gate) {
            let task = running.withLock { running in
                if let running { return running }
                let task = Task { try await provider.request("key") }
                running = task
                return task
            }
            return try await task.value
        }
    }

    private static let sharedByHand = Side("the same by hand", proof: { $0 * 3 }) { operations in
        let provider = Counted()
        let shared = SharedByHand<String, Int> { try await provider.request($0) }
        return try await Simultaneous.sum(of: operations, opening: provider.gate) {
            try await shared.value(for: "key")
        }
    }
}
