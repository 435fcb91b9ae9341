/// The number and length of the measurements of a figure.
///
/// Many short rounds contain an undisturbed one even on a busy machine, which interrupts every long round.
struct Effort: Sendable {
    /// The maximum number of measurements per side.
    let rounds: Int
    /// The minimum number of measurements per side, also after the time limit.
    private(set) var leastRounds: Int
    /// The minimum duration of one measurement, which determines its number of operations.
    let sample: Duration
    /// The time limit of a row.
    let budget: Duration

    static let full = Effort(rounds: 500, leastRounds: 5, sample: .milliseconds(1), budget: .seconds(3))
    static let quick = Effort(rounds: 100, leastRounds: 2, sample: .microseconds(500), budget: .milliseconds(300))

    /// The same effort with more rounds. Returns a quick effort unchanged.
    func with(leastRounds: Int) -> Effort {
        guard rounds >= Self.full.rounds else { return self }
        var effort = self
        effort.leastRounds = max(leastRounds, self.leastRounds)
        return effort
    }

    /// The number of operations of a side that fill one measurement. Also warms the side up.
    func operations(for side: Side) async throws -> Int {
        var operations = 16
        while try await side.run(operations) < sample { operations *= 2 }
        return operations
    }

    /// Counts allocations and instructions, over thousands of operations. A quick effort skips it for slow operations.
    func count(of ours: Side, _ theirs: Side, in reading: inout Reading) async throws {
        guard rounds >= Self.full.rounds || reading.ours.map({ $0.minimum < 50_000 }) == true else { return }
        reading.allocations = try await Heap.allocations(ours, theirs)
        reading.instructions = try await Instructions.counts(ours, theirs)
    }
}
