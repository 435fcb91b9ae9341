import IDMCore

/// Many sequences of two slow stages that run at the same time.
enum InFlight {
    static let rows: [Benchmark] = [
        .time("10,000 sequences of 2 × 5 ms", ofAll: size, sequences, against: awaits, limit: .times(1.2)),
        .time("10,000 calls of such a sequence", ofAll: size, calls, against: tasks, limit: .times(1.2)),
        .figure(
            "threads, 10,000 calls in flight", in: .threads, { try await threads(of: calls) },
            against: tasks.name, { try await threads(of: tasks) }, limit: .figure(Double(Machine.cores + 4))),
    ]

    private static let size = 10_000
    private static let stage = SlowIncrement(duration: .milliseconds(5))

    private static let sequences = Side("a >>>> b", proof: { sum(of: $0, plus: 2) }) { operations in
        let sequence = stage >>>> stage
        return try await total(of: operations) { try await sequence.request($0) }
    }

    private static let awaits = Side("two awaits", proof: { sum(of: $0, plus: 2) }) { operations in
        let stage = stage
        return try await total(of: operations) { try await stage.request(stage.request($0)) }
    }

    private static let calls = Side("calls", proof: { sum(of: $0, plus: 2) }) { operations in
        let tally = Tally(expecting: operations)
        let integrator = Integrator(stage >>>> stage)
        for input in 0..<operations {
            integrator.prepareCall(input).onSuccess { tally.add($0) }.call()
        }
        // Releasing an integrator cancels its calls.
        return await tally.sum(keeping: integrator)
    }

    private static let tasks = Side("tasks of two awaits", proof: { sum(of: $0, plus: 2) }) { operations in
        let stage = stage
        let tally = Tally(expecting: operations)
        for input in 0..<operations {
            Task { tally.add(try await stage.request(stage.request(input))) }
        }
        return await tally.sum()
    }

    /// Returns the sum of the results of many tasks in a group.
    private static func total(
        of operations: Int, _ request: @escaping @Sendable (Int) async throws -> Int
    ) async throws -> Int {
        try await withThrowingTaskGroup { group in
            for input in 0..<operations {
                group.addTask { try await request(input) }
            }
            return try await group.reduce(0, +)
        }
    }

    /// The number of threads after the work. Threads of the pool outlive their work by some seconds, so this is the
    /// maximum.
    private static func threads(of side: Side) async throws -> Int? {
        _ = try await side.run(size)
        return Machine.threads
    }
}
