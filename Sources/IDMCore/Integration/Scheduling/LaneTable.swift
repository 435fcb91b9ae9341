/// The lane schedulers of an integrator: one for all calls, or one per key while calls with that key exist.
enum Lanes: Sendable {
    case single(LaneScheduler)
    case keyed(LaneTable)

    /// Returns the scheduler of a call. Balance each call with `leave(_:)`.
    func enter(_ key: @autoclosure () -> LaneKey?) -> LaneScheduler {
        switch self {
        case .single(let scheduler): scheduler
        case .keyed(let table): table.enter(key())
        }
    }

    func leave(_ scheduler: LaneScheduler) {
        if case .keyed(let table) = self { table.leave(scheduler.lane) }
    }

    /// The schedulers in use, oldest first.
    var schedulers: [LaneScheduler] {
        switch self {
        case .single(let scheduler): [scheduler]
        case .keyed(let table): table.schedulers()
        }
    }

    /// Cancels all calls, and rejects those that are submitted later.
    func release() {
        switch self {
        case .single(let scheduler): scheduler.release()
        case .keyed(let table): table.schedulers(closing: true).forEach { $0.release() }
        }
    }
}

/// The key of a lane, as returned by the integrator's `lane` closure.
@usableFromInline
struct LaneKey: Hashable, Sendable {
    let base: any Hashable & Sendable

    @usableFromInline
    static func == (left: LaneKey, right: LaneKey) -> Bool {
        AnyHashable(left.base) == AnyHashable(right.base)
    }

    @usableFromInline
    func hash(into hasher: inout Hasher) {
        // As `AnyHashable`, 1 and 1.0 are equal and have the same hash; by themselves they have different hashes.
        AnyHashable(base).hash(into: &hasher)
    }
}

/// Creates a scheduler with the first call of a key, and removes it after the last.
final class LaneTable: Sendable {
    private struct Lane {
        let scheduler: LaneScheduler
        /// Increases with each lane.
        let number: Int
        var callCount = 0
    }

    /// Replaces a key that doesn't equal itself, such as a NaN: a lookup with that would never find its lane again.
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

        mutating func reflexive(_ key: LaneKey?) -> LaneKey? {
            key == key ? key : LaneKey(base: NonReflexiveKey(number: newNumber()))
        }
    }

    private let rule: AdmissionRule
    private let state = Locked(State())

    init(_ rule: AdmissionRule) {
        self.rule = rule
    }

    /// Returns the scheduler of a key. Balance each call with `leave(_:)`.
    func enter(_ key: LaneKey?) -> LaneScheduler {
        let (scheduler, isClosed) = state.withLock { state in
            let key = state.reflexive(key)
            var lane = state.lanes[key] ?? Lane(scheduler: LaneScheduler(rule, lane: key), number: state.newNumber())
            lane.callCount += 1
            state.lanes[key] = lane
            return (lane.scheduler, state.isClosed)
        }
        if isClosed { scheduler.release() }
        return scheduler
    }

    func leave(_ key: LaneKey?) {
        state.withLock { state in
            guard var lane = state.lanes[key] else { return }
            lane.callCount -= 1
            state.lanes[key] = lane.callCount > 0 ? lane : nil
        }
    }

    /// The schedulers in use, oldest first.
    ///
    /// - Parameter closing: Pass true to release the schedulers that are created later.
    func schedulers(closing: Bool = false) -> [LaneScheduler] {
        state.withLock { state in
            state.isClosed = state.isClosed || closing
            return state.lanes.values.sorted { $0.number < $1.number }.map(\.scheduler)
        }
    }
}
