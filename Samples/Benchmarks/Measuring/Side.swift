/// One side of a comparison: does an operation so many times, and proves that it did.
struct Side: Sendable {
    let name: String
    private let work: @Sendable (Int) async throws -> Duration

    /// Work that is done on no actor.
    ///
    /// - Parameters:
    ///   - name: What the side is called in the table.
    ///   - proof: What the work answers for a number of operations, if it did them all.
    ///   - work: Does that many operations, and answers with something that can't be had otherwise.
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

    /// Work that is done on the main actor, where the time is taken as well.
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

    /// Work that a thread on each core does at the same time, every one of them so many times.
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

    /// Does a number of operations and says how long that took. Nothing begins once the program is to end.
    func run(_ operations: Int) async throws -> Duration {
        try Task.checkCancellation()
        return try await work(operations)
    }
}

/// The sum of the operations 0, 1, 2 … with something added to each: the proof of most work.
func sum(of operations: Int, plus extra: Int = 0) -> Int {
    operations * (operations - 1) / 2 + operations * extra
}
