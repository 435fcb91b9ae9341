import Counters

/// Counts allocations, on Linux with the GNU C library.
enum Heap {
    /// The allocations per operation of both sides.
    static func allocations(_ ours: Side, _ theirs: Side) async throws -> (ours: Double, theirs: Double)? {
        guard let ours = try await PerOperation.count(of: ours, { try await during($0)?.blocks }),
            let theirs = try await PerOperation.count(of: theirs, { try await during($0)?.blocks })
        else { return nil }
        return (ours, theirs)
    }

    /// The growth of the bytes in use during the work.
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
