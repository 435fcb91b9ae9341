import IDMCore
import IDMTesting
import TestSupport
import Testing

/// Thousands of calls from several tasks at once, with failures, cancels and deaf providers at random. What is random
/// is the same in every run; how the calls meet is not.
@Suite("Racing calls keep to the grammar", .timeLimit(.ample), .serialized)
struct RacingCallsTests {
    private static let callers = 4
    private static let perCaller = Volume.of(10_000, normally: 1_000) / callers

    private enum Behavior: CaseIterable {
        case answers, fails, answersElsewhere, waits, isDeaf, cancelsItself, reports, failsElsewhere
    }

    /// Behaves as it was drawn for each input. Those that wait do so until a call that comes later lets them go.
    private struct Fickle: DataProvider {
        let behaviors: [Behavior]
        let gates: [Signal]

        func request(_ input: Int) async throws -> Int {
            switch behaviors[input] {
            case .answers: break
            case .fails: throw Trouble.numbered(input)
            case .answersElsewhere: try await elsewhere(nil)
            case .failsElsewhere: try await elsewhere(Trouble.numbered(input))
            case .waits: try await gates[input].wait()
            case .isDeaf: await gates[input].waitIgnoringCancel()
            case .cancelsItself: throw CancellationError()
            case .reports: for unit in 1...3 { IntegrationProgress.report(completed: Int64(unit), total: 3) }
            }
            return input
        }

        @concurrent
        private func elsewhere(_ error: Trouble?) async throws {
            if let error { throw error }
        }
    }

    /// All that the callers of one race share.
    private struct Race: Sendable {
        let integrator: Integrator<Int, Int>
        let gates: [Signal]
        let clock: ManualClock
        let crowd = Crowd()

        init(_ type: ExecutingType, lanes: Int?, count: Int) {
            var generator = SplitMix(seed: 7)
            gates = (0..<count).map { _ in Signal() }
            clock = ManualClock()
            let behaviors = (0..<count).map { _ in Behavior.allCases.randomElement(using: &generator)! }
            let provider = Fickle(behaviors: behaviors, gates: gates)
            if let lanes {
                integrator = Integrator(provider, executing: type, lane: { $0 % lanes }, clock: clock)
            } else {
                integrator = Integrator(provider, executing: type, clock: clock)
            }
        }

        /// Makes a part of the calls, and cancels some of them on the way.
        @concurrent
        func makeCalls(_ inputs: Range<Int>) async -> [(CallWitness, IntegrationTask<Int>)] {
            var generator = SplitMix(seed: UInt64(inputs.lowerBound))
            var made: [(CallWitness, IntegrationTask<Int>)] = []
            for input in inputs {
                let witness = CallWitness(in: crowd)
                let call = witness.joining(integrator.prepareCall(input), onMain: Bool.random(using: &generator))
                made.append((witness, call.retry(Int.random(in: 0...1, using: &generator)).call()))
                switch Int.random(in: 0..<10, using: &generator) {
                case 0...2: made[made.indices.suffix(8).randomElement(using: &generator)!].1.cancel()
                case 3: await clock.advance(by: .seconds(1))
                case 4 where input % 50 == 0: integrator.cancel()
                default: break
                }
                // Those that wait are let go a while after they were called.
                if made.count > 24 { gates[input - 24].open() }
            }
            for input in inputs { gates[input].open() }
            return made
        }
    }

    /// - Parameter ownEnds: How a call may end under this type alone.
    private func race(_ type: ExecutingType, lanes: Int? = nil, ownEnds: Set<String> = []) async -> Race {
        let race = Race(type, lanes: lanes, count: Self.callers * Self.perCaller)
        var made: [(CallWitness, IntegrationTask<Int>)] = []
        await withTaskGroup(of: [(CallWitness, IntegrationTask<Int>)].self) { group in
            for caller in 0..<Self.callers {
                group.addTask {
                    await race.makeCalls(caller * Self.perCaller..<(caller + 1) * Self.perCaller)
                }
            }
            for await some in group { made += some }
        }
        // What waits for the quiet has nobody to end it any more. All else ends by itself.
        await race.clock.advance(by: .seconds(1))
        if type == .latest(debounce: .milliseconds(300)) { race.integrator.cancel() }
        var ends: Set<String> = []
        for (witness, task) in made {
            await task.finish()
            #expect(witness.violations == [])
            let outcome =
                switch await task.outcome {
                case .success(let value): "success \(value)"
                case .failure: "failure"
                case .cancelled(let reason): "\(reason)"
                }
            #expect(witness.end == outcome)
            ends.insert(outcome.hasPrefix("success") ? "success" : outcome)
        }
        #expect(race.crowd.inside == 0)
        #expect(ends.subtracting(["failure", "cancelled", "success"]).isSubset(of: ownEnds))
        return race
    }

    @Test("under .default")
    func all() async { _ = await race(.default) }

    @Test("under .only")
    func only() async { _ = await race(.only, ownEnds: ["ignored"]) }

    @Test("under .only(joining: true)")
    func joining() async { _ = await race(.only(joining: true)) }

    @Test("under .queue, of which one runs at a time")
    func queue() async {
        let most = await race(.queue).crowd.most
        #expect(most == 1)
    }

    @Test("under .queue(width: 3), of which three run at a time at most")
    func width() async {
        #expect(await race(.queue(width: 3)).crowd.most <= 3)
    }

    @Test("under .queue(width:limit:)")
    func limit() async {
        #expect(await race(.queue(width: 2, limit: 10), ownEnds: ["ignored"]).crowd.most <= 2)
    }

    @Test("under .latest")
    func latest() async { _ = await race(.latest, ownEnds: ["superseded"]) }

    @Test("under .latest(debounce:)")
    func debounce() async { _ = await race(.latest(debounce: .milliseconds(300)), ownEnds: ["superseded"]) }

    @Test("in five lanes of a queue, of which five run at a time at most")
    func lanes() async {
        #expect(await race(.queue, lanes: 5).crowd.most <= 5)
    }
}
