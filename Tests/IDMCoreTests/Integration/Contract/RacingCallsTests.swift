import IDMCore
import IDMTesting
import TestSupport
import Testing

/// Thousands of calls from several tasks at once, with random failures, cancels and deaf providers. The random choices
/// are the same in every run, the timing is not.
@Suite(.timeLimit(.ample), .serialized)
struct RacingCallsTests {
    private static let callers = 4
    private static let perCaller = Volume.of(10_000, normally: 1_000) / callers

    private enum Behavior: CaseIterable {
        case answers, fails, answersElsewhere, waits, isDeaf, cancelsItself, reports, failsElsewhere
    }

    /// Has a random behavior for each input. Requests that wait are resumed by a later call.
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

    /// The state that the callers of one race share.
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

        /// Makes a part of the calls, and cancels some of them.
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
                if made.count > 24 { gates[input - 24].open() }
            }
            for input in inputs { gates[input].open() }
            return made
        }
    }

    struct Case: CustomTestStringConvertible {
        let type: ExecutingType
        var lanes: Int?
        /// The cancel reason that only this type gives.
        var reason: CancelReason?
        /// The maximum number of calls that may run at once.
        var limit = Int.max

        var testDescription: String { "\(type), lanes: \(lanes ?? 1)" }
    }

    private static let cases = [
        Case(type: .default), Case(type: .only, reason: .ignored), Case(type: .only(joining: true)),
        Case(type: .queue, limit: 1), Case(type: .queue(width: 3), limit: 3),
        Case(type: .queue(width: 2, limit: 10), reason: .ignored, limit: 2), Case(type: .latest, reason: .superseded),
        Case(type: .latest(debounce: .milliseconds(300)), reason: .superseded), Case(type: .queue, lanes: 5, limit: 5),
    ]

    @Test(arguments: cases)
    func `racing calls keep the grammar, their outcome and the limit`(_ test: Case) async {
        let (type, lanes) = (test.type, test.lanes)
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
        // A debounced call would wait for ever.
        await race.clock.advance(by: .seconds(1))
        if type == .latest(debounce: .milliseconds(300)) { race.integrator.cancel() }
        var ends: Set<String> = []
        var violations: [String] = []
        for (witness, task) in made {
            await task.finish()
            violations += witness.violations
            let outcome =
                switch await task.outcome {
                case .success(let value): "success \(value)"
                case .failure: "failure"
                case .cancelled(let reason): "\(reason)"
                }
            if witness.end != outcome { violations.append("\(witness.end ?? "no end") with \(outcome)") }
            ends.insert(outcome.hasPrefix("success") ? "success" : outcome)
        }
        #expect(violations == [])
        #expect(race.crowd.inside == 0)
        #expect(race.crowd.most <= test.limit)
        let allowed: Set = ["failure", "cancelled", "success"]
        #expect(ends.subtracting(allowed).isSubset(of: test.reason.map { ["\($0)"] } ?? []))
    }
}
