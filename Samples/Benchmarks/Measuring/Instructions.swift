import Counters

/// Counts executed instructions, where the machine has a readable counter.
enum Instructions {
    /// The instructions per operation of both sides.
    static func counts(_ ours: Side, _ theirs: Side) async throws -> (ours: Double, theirs: Double)? {
        guard let ours = try await PerOperation.count(of: ours, during),
            let theirs = try await PerOperation.count(of: theirs, during)
        else { return nil }
        return (ours, theirs)
    }

    private static func during(_ work: () async throws -> Void) async throws -> Int? {
        let start = instruction_counter_read()
        guard start >= 0 else { return nil }
        try await work()
        return Int(instruction_counter_read() - start)
    }
}
