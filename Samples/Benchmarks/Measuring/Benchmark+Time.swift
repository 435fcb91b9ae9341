extension Benchmark {
    /// How long an operation takes on either side. The sides take turns, so that what slows the machine down for a
    /// while slows down both.
    ///
    /// - Parameters:
    ///   - yardstick: Which round tells what the work costs.
    ///   - operations: How many belong together, or nil for as many as a good measurement needs.
    ///   - leastRounds: How often each side is measured at least, or nil for as often as others are.
    ///   - check: Looks, once and before anything is measured, at what figures can't show.
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

    /// How long a number of operations take together on either side.
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

    /// How long an operation takes among many, compared with how long it takes among few.
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
        // Not counted: the first time is slower.
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

/// What a side does in each round.
private struct Turn {
    let side: Side
    let operations: Int
    let shares: Int

    /// - Parameter shares: By how much the time is divided, or nil for the number of operations.
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
