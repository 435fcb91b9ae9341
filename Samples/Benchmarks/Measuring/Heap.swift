import Counters

/// What is allocated, where the platform tells: on Linux, with the GNU C library.
enum Heap {
    /// Allocations for each operation of both sides.
    static func allocations(_ ours: Side, _ theirs: Side) async throws -> (ours: Double, theirs: Double)? {
        guard let ours = try await PerOperation.count(of: ours, { try await during($0)?.blocks }),
            let theirs = try await PerOperation.count(of: theirs, { try await during($0)?.blocks })
        else { return nil }
        return (ours, theirs)
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
