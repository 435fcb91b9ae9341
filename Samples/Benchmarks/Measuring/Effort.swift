/// How much is done to get at a figure.
///
/// Many short rounds find an undisturbed one also on a busy machine, where a long one is always interrupted.
struct Effort: Sendable {
    /// How often each side is measured, unless the time runs out before.
    let rounds: Int
    /// How often each side is measured even if the time has run out.
    private(set) var leastRounds: Int
    /// How long one measurement takes at least. So many operations are done in it as that needs.
    let sample: Duration
    /// How long a row may take.
    let budget: Duration

    static let full = Effort(rounds: 500, leastRounds: 5, sample: .milliseconds(1), budget: .seconds(3))
    static let quick = Effort(rounds: 100, leastRounds: 2, sample: .microseconds(500), budget: .milliseconds(300))

    /// The same with more rounds, where it isn't one of little effort.
    func with(leastRounds: Int) -> Effort {
        guard rounds >= Self.full.rounds else { return self }
        var effort = self
        effort.leastRounds = max(leastRounds, self.leastRounds)
        return effort
    }

    /// How many operations of a side take as long as one measurement is to take. Warms it up, too.
    func operations(for side: Side) async throws -> Int {
        var operations = 16
        while try await side.run(operations) < sample { operations *= 2 }
        return operations
    }

    /// Counts what is allocated and executed, which takes thousands of operations. In a hurry, not where each takes its
    /// time.
    func count(of ours: Side, _ theirs: Side, in reading: inout Reading) async throws {
        guard rounds >= Self.full.rounds || reading.ours.map({ $0.minimum < 50_000 }) == true else { return }
        reading.allocations = try await Heap.allocations(ours, theirs)
        reading.instructions = try await Instructions.counts(ours, theirs)
    }
}
