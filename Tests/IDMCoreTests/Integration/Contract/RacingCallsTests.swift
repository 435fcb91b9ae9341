import IDMCore
import IDMTesting
import Synchronization
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

        /// A call that was made, with its events.
        typealias Made = (log: Log, task: IntegrationTask<Int>)

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
        func makeCalls(_ inputs: Range<Int>) async -> [Made] {
            var generator = SplitMix(seed: UInt64(inputs.lowerBound))
            var made: [Made] = []
            for input in inputs {
                let log = Log()
                let record = { @Sendable [crowd] (line: String) in
                    if line == "begin" { crowd.enter() }
                    if line == "completion" { crowd.leave() }
                    log.add(line)
                }
                let call = integrator.prepareCall(input).retry(Int.random(in: 0...1, using: &generator))
                let isOnMain = Bool.random(using: &generator)
                let recorded =
                    isOnMain
                    ? await call.recorded(isolation: MainActor.shared, record)
                    : call.recorded(isolation: nil, record)
                made.append((log, recorded.call()))
                switch Int.random(in: 0..<10, using: &generator) {
                case 0...2: made[made.indices.suffix(8).randomElement(using: &generator)!].task.cancel()
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
        var made: [Race.Made] = []
        await withTaskGroup(of: [Race.Made].self) { group in
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
        var violations: [[String]] = []
        for (log, task) in made {
            await task.finish()
            let end =
                switch await task.outcome {
                case .success(let value): "success \(value)"
                case .failure(let error): "error \(error)"
                case .cancelled(let reason): "cancel \(reason)"
                }
            let isCancelledUnstarted = log.entries == [end] && end.hasPrefix("cancel")
            if !isCancelledUnstarted && !Self.isGrammatical(log.entries, end) { violations.append(log.entries + [end]) }
            ends.insert(end.hasPrefix("cancel") ? end : "")
        }
        #expect(violations == [])
        #expect(race.crowd.inside == 0)
        #expect(race.crowd.most <= test.limit)
        #expect(ends.subtracting(["", "cancel cancelled"]).isSubset(of: test.reason.map { ["cancel \($0)"] } ?? []))
    }

    /// True if the lines are the events of a call that began and has this end.
    private static func isGrammatical(_ lines: [String], _ end: String) -> Bool {
        lines.first == "begin" && lines.suffix(2) == [end, "completion"]
            && lines.dropFirst().dropLast(2).allSatisfy { $0.hasPrefix("progress") || $0.hasPrefix("retry") }
    }
}

/// Counts calls that run at the same time.
private final class Crowd: Sendable {
    private let counts = Mutex((inside: 0, most: 0))

    /// The largest number at one time.
    var most: Int { counts.withLock { $0.most } }
    var inside: Int { counts.withLock { $0.inside } }

    func enter() {
        counts.withLock { counts in
            counts.inside += 1
            counts.most = max(counts.most, counts.inside)
        }
    }

    func leave() {
        counts.withLock { $0.inside -= 1 }
    }
}
