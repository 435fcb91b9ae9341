/// One side of a comparison: performs a number of operations, and proves that it did.
struct Side: Sendable {
    let name: String
    private let work: @Sendable (Int) async throws -> Duration

    /// Work on no actor.
    ///
    /// - Parameters:
    ///   - name: The name of the side in the table.
    ///   - proof: Returns the expected result of the work for a number of operations.
    ///   - work: Performs the operations. Returns a result that depends on each of them.
    init(
        _ name: String, proof: @escaping @Sendable (Int) -> Int,
        work: @escaping @Sendable (Int) async throws -> Int
    ) {
        self.name = name
        self.work = { operations in
            let start = ContinuousClock.now
            let answer = try await work(operations)
            let duration = start.duration(to: .now)
            try Fault.unless(answer, is: proof(operations), name)
            return duration
        }
    }

    /// Work on the main actor, which also takes the time.
    init(
        _ name: String, proof: @escaping @Sendable (Int) -> Int,
        onMain work: @escaping @MainActor (Int) async throws -> Int
    ) {
        self.name = name
        self.work = { @MainActor operations in
            let start = ContinuousClock.now
            let answer = try await work(operations)
            let duration = start.duration(to: .now)
            try Fault.unless(answer, is: proof(operations), name)
            return duration
        }
    }

    /// Work on one thread per core at the same time. Each thread performs the given number of operations.
    static func onAllCores(
        _ name: String, proof: @escaping @Sendable (Int) -> Int, _ work: @escaping @Sendable (Int) -> Int
    ) -> Side {
        Side(name: name) { operations in
            let (total, duration) = await Crew.perform { work(operations) }
            try Fault.unless(total, is: Machine.cores * proof(operations), name)
            return duration
        }
    }

    private init(name: String, work: @escaping @Sendable (Int) async throws -> Duration) {
        self.name = name
        self.work = work
    }

    /// Performs a number of operations and returns the duration. Throws without beginning if the program is ending.
    func run(_ operations: Int) async throws -> Duration {
        try Task.checkCancellation()
        return try await work(operations)
    }
}

/// The sum of the operations 0, 1, 2 … with a constant added to each: the proof of most work.
func sum(of operations: Int, plus extra: Int = 0) -> Int {
    operations * (operations - 1) / 2 + operations * extra
}
