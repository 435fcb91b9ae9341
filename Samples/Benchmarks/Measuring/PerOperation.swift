/// Counts what an operation needs of something.
enum PerOperation {
    /// What the second half of many operations adds to the first, so that what is needed only once does not count. The
    /// least of several runs, because what else goes on in the process only ever adds to it. Nil where nobody tells.
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
