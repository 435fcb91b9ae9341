/// Counts a resource per operation.
enum PerOperation {
    /// The count of the second half of many operations, without the one-time costs of the first half. The minimum of
    /// several runs, because other work in the process only adds to the count. Nil where the platform has no counter.
    static func count(
        of side: Side, _ during: (_ work: () async throws -> Void) async throws -> Int?
    ) async throws -> Double? {
        let half = 1_000
        var (few, many) = (Int.max, Int.max)
        for _ in 0..<4 {
            guard let first = try await during({ _ = try await side.run(half) }),
                let both = try await during({ _ = try await side.run(2 * half) })
            else { return nil }
            (few, many) = (min(few, first), min(many, both))
        }
        return Double(many - few) / Double(half)
    }
}
