import AllocationCounter

/// What is allocated, where the platform tells: on Linux, with the GNU C library.
enum Heap {
    /// Allocations for each operation of both sides.
    static func allocations(_ ours: Side, _ theirs: Side) async throws -> (ours: Double, theirs: Double)? {
        guard let ours = try await allocations(of: ours), let theirs = try await allocations(of: theirs)
        else { return nil }
        return (ours, theirs)
    }

    /// Allocations for each operation: what the second half of many operations adds to the first, so that what is needed
    /// only once does not count. The least of several runs, because what else goes on in the process only ever adds to it.
    private static func allocations(of side: Side) async throws -> Double? {
        let half = 1_000
        var (few, many) = (Int.max, Int.max)
        for _ in 0..<4 {
            guard let first = try await during({ _ = try await side.run(half) })?.blocks,
                let both = try await during({ _ = try await side.run(2 * half) })?.blocks
            else { return nil }
            (few, many) = (min(few, first), min(many, both))
        }
        return Double(many - few) / Double(half)
    }

    /// Bytes that are in use after some work, and were not before it.
    static func growth(_ work: () async throws -> Void) async throws -> Int? {
        try await during(work)?.bytes
    }

    private static func during(_ work: () async throws -> Void) async throws -> (blocks: Int, bytes: Int)? {
        guard allocation_counter_works() else { return nil }
        allocation_counter_start()
        defer { allocation_counter_stop() }
        try await work()
        return (allocation_counter_blocks(), allocation_counter_bytes())
    }
}
