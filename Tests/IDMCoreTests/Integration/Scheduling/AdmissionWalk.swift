import IDMTesting
import TestSupport

@testable import IDMCore

/// Some calls under one rule, with every move that their tasks, their cancellers and their integrator may make.
///
/// It keeps its own account of each call, in the words of the contract, foretells from it what the machine must answer,
/// and compares. The account, and not the machine, says which states are the same.
struct AdmissionWalk: Explorable {
    struct Bounds {
        var calls: Int
        var ways: [SubmissionKind] = [.heard, .unheard, .held]
        /// Whether an answer takes its time to the handlers, there may be several, and a provider may ignore its
        /// cancel.
        var isThorough = true
        /// Whether all calls may be cancelled in one go, and the integrator may go.
        var endsAll = true
        /// Whether calls count as different that differ only in when they were made, or in what they have been.
        var tellsTwinsApart = false
    }

    enum Move {
        /// A call is made.
        case submit(SubmissionKind)
        /// What comes before a call has ended.
        case admit(Int)
        /// The quiet that a call waited for has come.
        case settle(Int)
        /// The task of a call speaks for the first time.
        case begin(Int)
        /// It has told what there was to tell, and asks its provider.
        case ask(Int)
        /// Its provider has answered, and the answer is on its way to the handlers' actor.
        case speak(Int)
        /// A value that isn't the last is heard.
        case value(Int)
        /// The last answer is heard: a value or an error, the machine makes no difference.
        case end(Int)
        /// A provider that ignored its cancel answers after all.
        case answerLate(Int)
        /// The last handler has run.
        case finish(Int)
        case cancel(Int)
        case cancelAll
        case release
    }

    enum Phase: UInt16 {
        case held, settling, waiting
        /// Its task is about to speak for the first time, be it to say that the call was turned away.
        case ready
        /// Something that isn't the end is told.
        case telling
        case asking
        /// An answer is about to be told.
        case answering
        /// The end is told by the call's own task, or by whoever cancelled it.
        case ended, takenOver
        case gone
    }

    struct Call {
        var phase = Phase.held
        var way: SubmissionKind
        /// Why it is to end, once that was told to the machine and before it is told to the handlers.
        var cancelled: CancelReason?
        var isInside = false
        /// Whether its provider works on after its end.
        var isLate = false
        var ends = 0

        var hasBegun = false

        /// Whether it has begun, and its last handler hasn't run.
        var isRunning: Bool {
            switch phase {
            case .telling, .asking, .answering: true
            case .ended, .takenOver: hasBegun
            case .held, .settling, .waiting, .ready, .gone: false
            }
        }

        /// Whether its end is being told, or has been.
        var isEnded: Bool {
            switch phase {
            case .ended, .takenOver, .gone: true
            case .held, .settling, .waiting, .ready, .telling, .asking, .answering: false
            }
        }

        /// Whether it was let in, and its end is still open.
        var isUndecided: Bool {
            switch phase {
            case .settling, .ready, .telling, .asking, .answering: cancelled == nil
            case .held, .waiting, .ended, .takenOver, .gone: false
            }
        }

        /// - Parameter isStrict: Whether also to tell what doesn't matter any more.
        func code(isStrict: Bool) -> UInt16 {
            var code = phase.rawValue | (isLate ? 1 << 4 : 0)
            if phase == .gone && !isStrict { return code }
            code |= (isInside ? 1 << 5 : 0) | (hasBegun ? 1 << 6 : 0)
            if phase == .ended && !isStrict { return code }
            if way == .unheard && !hasBegun { code |= 1 << 7 }
            if let cancelled { code |= UInt16(CancelReason.allCases.firstIndex(of: cancelled)! + 1) << 8 }
            return code
        }
    }

    let rule: AdmissionRule
    let bounds: Bounds
    private(set) var calls: [Call] = []
    private var machine: AdmissionProbe
    /// The calls that wait, in the order in which they came.
    private var line: [Int] = []
    /// The calls that came to be let in, in order.
    private var arrivals: [Int] = []
    private var isReleased = false
    private var wereAllCancelled = false

    init(_ rule: AdmissionRule, _ bounds: Bounds) {
        self.rule = rule
        self.bounds = bounds
        machine = AdmissionProbe(rule)
    }

    // MARK: What may happen

    var moves: [Move] {
        var moves: [Move] = []
        if calls.count < bounds.calls { moves += bounds.ways.map { .submit($0) } }
        for (index, call) in calls.enumerated() {
            switch call.phase {
            case .held: moves.append(.admit(index))
            case .settling: moves.append(.settle(index))
            case .waiting, .gone: break
            case .ready: moves.append(.begin(index))
            case .telling: moves.append(.ask(index))
            case .asking: moves += bounds.isThorough ? [.speak(index), .end(index)] : [.end(index)]
            case .answering: moves += [.value(index), .end(index)]
            case .ended, .takenOver: moves.append(.finish(index))
            }
            if call.isLate { moves.append(.answerLate(index)) }
            if call.phase != .gone { moves.append(.cancel(index)) }
        }
        if bounds.endsAll {
            if !wereAllCancelled { moves.append(.cancelAll) }
            if !isReleased { moves.append(.release) }
        }
        return moves
    }

    // Walked through a million times: loops here and in `check`, where closures would be slow without optimization.
    var footprint: [UInt16] {
        var codes: [UInt16] = [(isReleased ? 1 : 0) + (wereAllCancelled ? 2 : 0)]
        codes.reserveCapacity(calls.count + line.count + 1)
        for call in calls where bounds.tellsTwinsApart || call.phase != .waiting {
            codes.append(call.code(isStrict: bounds.tellsTwinsApart))
        }
        if !bounds.tellsTwinsApart { codes.sort() }
        for index in line {
            codes.append(bounds.tellsTwinsApart ? UInt16(index) : calls[index].code(isStrict: false))
        }
        return codes
    }

    // MARK: What must come of it

    mutating func make(_ move: Move) throws(Violation) {
        switch move {
        case .submit(let way): try submit(way)
        case .admit(let index): try admit(index)
        case .settle(let index):
            machine.settled(index)
            calls[index].phase = .ready
        case .begin(let index): try begin(index)
        case .ask(let index): try ask(index)
        case .speak(let index):
            try expect(machine.voice(index) { $0.speak() }, .proceed)
            calls[index].phase = .answering
        case .value(let index): try commit(index, isFinal: false)
        case .end(let index): try commit(index, isFinal: true)
        case .answerLate(let index): try answerLate(index)
        case .finish(let index): try finish(index)
        case .cancel(let index): try same(machine.cancel(index, .cancelled), cancel(index, .cancelled), "cancel")
        case .cancelAll:
            wereAllCancelled = true
            try same(machine.cancelAll(.cancelled), cancelAll(.cancelled), "cancelAll")
        case .release:
            isReleased = true
            try same(machine.release(), cancelAll(.released), "release")
        }
        try check()
        // Only where slots change hands can an old ticket come to name something again.
        switch move {
        case .submit, .finish: try checkGone()
        default: break
        }
    }

    private mutating func submit(_ way: SubmissionKind) throws(Violation) {
        let index = calls.count
        calls.append(Call(way: way))
        let (entrance, displaced) = machine.submit(index, way)
        if way == .held {
            try same(entrance, .wait, "A call that is held waits")
            try same(displaced, nil, "A call that is held displaces nobody")
            // After a release there is nothing to wait for.
            if isReleased { turnAway(index, .released) }
            return
        }
        try letIn(index, entrance, displaced)
    }

    private mutating func admit(_ index: Int) throws(Violation) {
        let (entrance, displaced) = machine.admit(index)
        calls[index].way = .heard
        try letIn(index, entrance, displaced)
    }

    /// Lets a call in by the rule, as the contract says it, and compares.
    private mutating func letIn(
        _ index: Int, _ entrance: AdmissionResult, _ displaced: AdmissionProbe.Effect?
    ) throws(Violation) {
        var expected = AdmissionResult.start
        var expectedDisplaced: AdmissionProbe.Effect?
        let holder = calls.indices.first { $0 != index && calls[$0].isUndecided }
        switch rule {
        case _ where isReleased:
            turnAway(index, .released)
        case .one where holder != nil:
            turnAway(index, .ignored)
        case .line(let width, let limit) where calls.count(where: \.isInside) >= width:
            guard line.count < limit else {
                turnAway(index, .ignored)
                break
            }
            expected = .wait
            calls[index].phase = .waiting
            line.append(index)
        case .newest(let settles):
            expectedDisplaced = holder.flatMap { cancel($0, .superseded) }
            calls[index].phase = settles ? .settling : .ready
            if settles { expected = .settle }
        case .all, .one, .line:
            calls[index].phase = .ready
            if case .line = rule { calls[index].isInside = true }
        }
        arrivals.append(index)
        if calls[index].phase == .ready && calls[index].cancelled == nil && calls[index].way == .unheard {
            expected = .begun
            calls[index].phase = .asking
            calls[index].hasBegun = true
        }
        try same(entrance, expected, "entrance of call \(index)")
        try same(displaced, expectedDisplaced, "displaced by call \(index)")
    }

    private mutating func turnAway(_ index: Int, _ reason: CancelReason) {
        calls[index].phase = .ready
        calls[index].cancelled = reason
    }

    private mutating func begin(_ index: Int) throws(Violation) {
        let isHeard = calls[index].way == .heard
        let turn = machine.voice(index) { isHeard ? $0.begin() : $0.beginAndAsk() }
        guard try proceeds(index, turn) else { return }
        if case .line = rule {
            try require(calls[index].isInside, "Call \(index) began without a place")
        }
        calls[index].hasBegun = true
        calls[index].phase = isHeard ? .telling : .asking
    }

    private mutating func ask(_ index: Int) throws(Violation) {
        if try proceeds(index, machine.voice(index) { $0.ask() }) { calls[index].phase = .asking }
    }

    private mutating func commit(_ index: Int, isFinal: Bool) throws(Violation) {
        guard try proceeds(index, machine.voice(index) { $0.commit(isFinal: isFinal) }) else { return }
        if case .newest = rule {
            try require(arrivals.last == index, "Call \(index) committed after a newer one was admitted")
        }
        calls[index].phase = isFinal ? .ended : .telling
        if isFinal { calls[index].ends += 1 }
    }

    /// Whether the task of a call may go on. Otherwise the call has been cancelled, and its task is to tell.
    private mutating func proceeds(_ index: Int, _ turn: DeliveryStateMachine.Turn?) throws(Violation) -> Bool {
        guard let reason = calls[index].cancelled else {
            try expect(turn, .proceed)
            return true
        }
        try expect(turn, .cancelled(reason))
        calls[index].phase = .ended
        calls[index].ends += 1
        return false
    }

    private mutating func answerLate(_ index: Int) throws(Violation) {
        let expected: DeliveryStateMachine.Turn? = calls[index].phase == .gone ? nil : .over
        var copy = machine
        try expect(copy.voice(index) { $0.speak() }, expected)
        try expect(machine.voice(index) { $0.commit(isFinal: true) }, expected)
        calls[index].isLate = false
    }

    private mutating func finish(_ index: Int) throws(Violation) {
        let next = machine.finish(index)
        let wasInside = calls[index].isInside
        calls[index].isInside = false
        calls[index].phase = .gone
        guard wasInside, !line.isEmpty else {
            return try same(next, nil, "woken by the finish of call \(index)")
        }
        let expected = line.removeFirst()
        calls[expected].phase = .ready
        calls[expected].isInside = true
        try same(next, expected, "woken by the finish of call \(index)")
    }

    private mutating func cancel(_ index: Int, _ reason: CancelReason) -> AdmissionProbe.Effect? {
        guard calls[index].cancelled == nil else { return nil }
        switch calls[index].phase {
        case .held, .settling, .waiting:
            line.removeAll { $0 == index }
            turnAway(index, reason)
            return .wake(index)
        case .ready, .telling, .answering:
            calls[index].cancelled = reason
            return .stop(index)
        case .asking:
            calls[index].phase = .takenOver
            calls[index].isLate = bounds.isThorough
            calls[index].ends += 1
            return .takeOver(index, reason)
        case .ended, .takenOver, .gone:
            return nil
        }
    }

    private mutating func cancelAll(_ reason: CancelReason) -> [AdmissionProbe.Effect] {
        calls.indices.compactMap { cancel($0, reason) }
    }

    // MARK: What must hold always

    private func check() throws(Violation) {
        var inside = 0
        var running = 0
        var undecided = 0
        var isEmpty = true
        for index in calls.indices {
            let call = calls[index]
            try require(call.ends == (call.isEnded ? 1 : 0), "Call \(index) ended \(call.ends) times")
            try require(machine.isHeld(index) == (call.phase == .held), "Whether call \(index) is held is wrong")
            try require(machine.isWaiting(index) == (call.phase == .waiting), "Whether call \(index) waits is wrong")
            if call.isInside { inside += 1 }
            if call.isRunning { running += 1 }
            if call.isUndecided { undecided += 1 }
            if call.phase != .gone { isEmpty = false }
        }
        try require(machine.isEmpty == isEmpty, "Whether nothing is left is wrong")
        try require(!isReleased || undecided == 0 && line.isEmpty, "A call may still go on after the release")
        switch rule {
        case .all:
            break
        case .one, .newest:
            try require(undecided <= 1, "\(undecided) calls hold the place")
        case .line(let width, let limit):
            try require(running <= inside && inside <= width, "\(running) run in \(inside) places")
            try require(line.count <= limit, "\(line.count) wait in line")
            try require(line.isEmpty || inside == width, "A call waits though there is room")
            var isWaiting = false
            for index in arrivals {
                if calls[index].phase == .waiting { isWaiting = true }
                try require(!isWaiting || !calls[index].hasBegun, "Call \(index) began before one that came before it")
            }
        }
    }

    /// The tickets of calls that have ended name nothing, whoever has their slots now.
    private func checkGone() throws(Violation) {
        var copy = machine
        for index in calls.indices where calls[index].phase == .gone {
            try require(copy.voice(index) { $0.isEnding } == nil, "Call \(index) still speaks")
            try require(copy.cancel(index, .cancelled) == nil, "Call \(index) can still be cancelled")
        }
    }

    private func expect(_ turn: DeliveryStateMachine.Turn?, _ expected: DeliveryStateMachine.Turn?) throws(Violation) {
        try same(turn, expected, "the machine's word")
    }

    private func same<Value: Equatable>(_ value: Value, _ expected: Value, _ what: String) throws(Violation) {
        try require(value == expected, "\(what): \(value) instead of \(expected)")
    }
}
