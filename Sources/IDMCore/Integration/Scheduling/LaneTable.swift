/// The gates of an integrator: one for all calls, or one for each key for as long as it is in use.
enum Lanes: Sendable {
    case single(LaneScheduler)
    case keyed(LaneTable)

    /// The gate of a call. Each enter wants a leave.
    func enter(_ key: @autoclosure () -> LaneKey?) -> LaneScheduler {
        switch self {
        case .single(let gate): gate
        case .keyed(let table): table.enter(key())
        }
    }

    func leave(_ gate: LaneScheduler) {
        if case .keyed(let table) = self { table.leave(gate.lane) }
    }

    var waitingCount: Int {
        switch self {
        case .single(let gate): gate.waitingCount
        case .keyed(let table): table.gates().reduce(0) { $0 + $1.waitingCount }
        }
    }

    func cancelAll(isolation: isolated (any Actor)?) {
        switch self {
        case .single(let gate):
            gate.cancelAll(.cancelled, isolation: isolation)
        case .keyed(let table):
            for gate in table.gates() {
                gate.cancelAll(.cancelled, isolation: isolation)
            }
        }
    }

    func release() {
        switch self {
        case .single(let gate): gate.release()
        case .keyed(let table): table.gates(closing: true).forEach { $0.release() }
        }
    }
}

/// A key by which the calls of an integrator are told apart.
@usableFromInline
struct LaneKey: Hashable, Sendable {
    let base: any Hashable & Sendable

    @usableFromInline
    static func == (left: LaneKey, right: LaneKey) -> Bool {
        AnyHashable(left.base) == AnyHashable(right.base)
    }

    @usableFromInline
    func hash(into hasher: inout Hasher) {
        // Not by the base itself: 1 and 1.0 are equal as `AnyHashable`, but only there do they have the same hash.
        AnyHashable(base).hash(into: &hasher)
    }
}

/// Makes a gate for a key at its first call, and drops it after its last.
final class LaneTable: Sendable {
    private struct Lane {
        let gate: LaneScheduler
        /// Of two lanes in use, the earlier one has the lower number.
        let number: Int
        var calls = 0
    }

    /// Stands for a key that doesn't equal itself, as a number that is none: under that, its lane would never be found
    /// again.
    private struct NonReflexiveKey: Hashable, Sendable {
        let number: Int
    }

    private struct State {
        var lanes: [LaneKey?: Lane] = [:]
        var lastNumber = 0
        var isClosed = false

        mutating func newNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }

        mutating func findable(_ key: LaneKey?) -> LaneKey? {
            key == key ? key : LaneKey(base: NonReflexiveKey(number: newNumber()))
        }
    }

    private let rule: AdmissionRule
    private let state = Locked(State())

    init(_ rule: AdmissionRule) {
        self.rule = rule
    }

    /// The gate of a key. Each enter wants a leave.
    func enter(_ key: LaneKey?) -> LaneScheduler {
        let (gate, isClosed) = state.withLock { state in
            let key = state.findable(key)
            var lane = state.lanes[key] ?? Lane(gate: LaneScheduler(rule, lane: key), number: state.newNumber())
            lane.calls += 1
            state.lanes[key] = lane
            return (lane.gate, state.isClosed)
        }
        if isClosed { gate.release() }
        return gate
    }

    func leave(_ key: LaneKey?) {
        state.withLock { state in
            guard var lane = state.lanes[key] else { return }
            lane.calls -= 1
            state.lanes[key] = lane.calls > 0 ? lane : nil
        }
    }

    /// The gates in use, in the order in which they came. Closing releases those that are still to come.
    func gates(closing: Bool = false) -> [LaneScheduler] {
        state.withLock { state in
            state.isClosed = state.isClosed || closing
            return state.lanes.values.sorted { $0.number < $1.number }.map(\.gate)
        }
    }
}
