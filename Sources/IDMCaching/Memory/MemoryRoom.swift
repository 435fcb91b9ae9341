internal import Synchronization

/// How much room there is for entries, and how much of it is taken, in all shards together.
final class MemoryRoom: Sendable {
    private let countLimit: Int
    private let costLimit: Int64
    private let takenCount = Atomic(0)
    private let takenCost = Atomic<Int64>(0)
    /// One thread at a time makes room, or two would make it for the same entry.
    private let making = Mutex(())

    init(count: Int, cost: Int) {
        countLimit = max(0, count)
        // Far enough from the end of all numbers for what many threads put in before any of them makes room.
        costLimit = min(Int64(max(0, cost)), .max >> 16)
    }

    var count: Int { takenCount.load(ordering: .relaxed) }
    var cost: Int { Int(clamping: takenCost.load(ordering: .relaxed)) }
    var isOverfull: Bool { count > countLimit || takenCost.load(ordering: .relaxed) > costLimit }

    /// Whether an entry of a cost could ever be kept.
    func fits(_ cost: Int) -> Bool {
        cost <= costLimit && countLimit > 0
    }

    func take(_ cost: Int, count: Int) {
        takenCount.add(count, ordering: .relaxed)
        takenCost.add(Int64(cost), ordering: .relaxed)
    }

    /// Takes entries out, one by one, until the rest fits. Returns them, to be let go of where no lock is held.
    func makeRoom<Value>(_ remove: () -> MemoryEntry<Value>?) -> [MemoryEntry<Value>] {
        making.withLock { _ in
            var gone: [MemoryEntry<Value>] = []
            while isOverfull, let entry = remove() {
                take(0 - entry.cost, count: -1)
                gone.append(entry)
            }
            return gone
        }
    }
}
