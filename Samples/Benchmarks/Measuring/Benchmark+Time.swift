extension Benchmark {
    /// A row with the time per operation of both sides. The sides alternate, so that a slow phase of the machine affects
    /// both.
    ///
    /// - Parameters:
    ///   - yardstick: The rule that picks the representative round.
    ///   - operations: The number of operations per measurement. Nil chooses it by their duration.
    ///   - leastRounds: The minimum number of measurements per side. Nil chooses the default.
    ///   - check: A check that runs once, before the first measurement.
    static func time(
        _ name: String, _ ours: Side, against theirs: Side, limit: Limit, by yardstick: Spread.Yardstick = .least,
        operations: Int? = nil, leastRounds: Int? = nil,
        check: @escaping @Sendable () async throws -> Void = {}
    ) -> Benchmark {
        Benchmark(name: name, opponent: theirs.name, unit: .time, limit: limit) { effort in
            try await check()
            let effort = leastRounds.map(effort.with(leastRounds:)) ?? effort
            let count = if let operations { operations } else { try await effort.operations(for: ours) }
            var reading = try await rounds(effort, Turn(ours, count), Turn(theirs, count), by: yardstick)
            try await effort.count(of: ours, theirs, in: &reading)
            return reading
        }
    }

    /// A row with the total time of a number of operations of both sides.
    static func time(
        _ name: String, ofAll operations: Int, _ ours: Side, against theirs: Side, limit: Limit
    ) -> Benchmark {
        Benchmark(name: name, opponent: theirs.name, unit: .time, limit: limit) { effort in
            let turns = (Turn(ours, operations, shares: 1), Turn(theirs, operations, shares: 1))
            var reading = try await rounds(effort, turns.0, turns.1)
            try await effort.count(of: ours, theirs, in: &reading)
            return reading
        }
    }

    /// A row that compares the time per operation among many operations with that among few.
    static func growth(
        _ name: String, _ side: Side, from few: Int, to many: Int, against opponent: String, limit: Limit
    ) -> Benchmark {
        Benchmark(name: name, opponent: opponent, unit: .time, limit: limit) { effort in
            try await rounds(effort, Turn(side, many), Turn(side, few))
        }
    }

    private static func rounds(
        _ effort: Effort, _ ours: Turn, _ theirs: Turn, by yardstick: Spread.Yardstick = .least
    ) async throws -> Reading {
        // The first run is slower, and not counted.
        _ = try await theirs.take()
        _ = try await Turn(ours.side, theirs.operations).take()
        var (first, second): ([Double], [Double]) = ([], [])
        let end = ContinuousClock.now + effort.budget
        while first.count < effort.rounds, first.count < effort.leastRounds || .now < end {
            first.append(try await ours.take())
            second.append(try await theirs.take())
        }
        return Reading(ours: Spread(first, by: yardstick), theirs: Spread(second, by: yardstick))
    }
}

/// The work of a side in one round.
private struct Turn {
    let side: Side
    let operations: Int
    let shares: Int

    /// - Parameter shares: The divisor of the time. Nil divides by the number of operations.
    init(_ side: Side, _ operations: Int, shares: Int? = nil) {
        self.side = side
        self.operations = operations
        self.shares = shares ?? operations
    }

    /// The time of one share, in nanoseconds.
    func take() async throws -> Double {
        try await side.run(operations) / .nanoseconds(1) / Double(shares)
    }
}
