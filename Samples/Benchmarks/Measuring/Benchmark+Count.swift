extension Benchmark {
    /// A row with the allocations per operation of both sides.
    static func allocations(_ name: String, _ ours: Side, against theirs: Side, limit: Limit) -> Benchmark {
        Benchmark(name: name, opponent: theirs.name, unit: .allocations, limit: limit) { _ in
            guard let found = try await Heap.allocations(ours, theirs) else { return Reading() }
            return Reading(ours: Spread([found.ours]), theirs: Spread([found.theirs]))
        }
    }

    /// A row with a number of bytes or threads of both sides.
    static func figure(
        _ name: String, in unit: Unit, _ ours: @escaping @Sendable () async throws -> Int?,
        against opponent: String, _ theirs: @escaping @Sendable () async throws -> Int?, limit: Limit
    ) -> Benchmark {
        Benchmark(name: name, opponent: opponent, unit: unit, limit: limit) { _ in
            var reading = Reading()
            // The first run warms up.
            for _ in 0..<2 {
                reading.ours = try await ours().map { Spread([Double($0)]) }
                reading.theirs = try await theirs().map { Spread([Double($0)]) }
            }
            return reading
        }
    }
}
