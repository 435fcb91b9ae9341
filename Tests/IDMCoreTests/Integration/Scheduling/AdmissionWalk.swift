import IDMTesting
import TestSupport

@testable import IDMCore

/// Some calls under one rule, with every move that their tasks, their cancellers and their integrator can make.
///
/// The walk has its own model of each call, in the words of the contract. It predicts each answer of the machine and
/// compares. The model, not the machine, decides which states are equal.
struct AdmissionWalk: Explorable {
    struct Bounds {
        var calls: Int
        var kinds: [SubmissionKind] = [.withBegin, .withoutBegin, .held]
        /// True to walk answers that wait for their handlers, several values, late answers after a cancel, and paused
        /// starts.
        var isThorough = true
        /// True to walk `cancelAll` and `release`.
        var endsAll = true
        /// True to distinguish states that differ only in the order or the history of equal calls.
        var distinguishesTwins = false
    }

    let rule: AdmissionRule
    let bounds: Bounds
    private(set) var calls: [Call] = []
    private var machine: AdmissionStateMachine<Int>
    /// The IDs of the calls, which are numbered in the order of submission.
    private var ids: [CallID] = []
    /// The waiting calls, in order of admission.
    private var line: [Int] = []
    /// The submitted or admitted calls, in order.
    private var arrivals: [Int] = []
    /// The call that left the line and has not started.
    private var starting: Int?
    private var isReleased = false
    private var wereAllCancelled = false

    init(_ rule: AdmissionRule, _ bounds: Bounds) {
        self.rule = rule
        self.bounds = bounds
        machine = AdmissionStateMachine(rule)
    }

    // MARK: Possible moves

    var moves: [Move] {
        var moves: [Move] = []
        if calls.count < bounds.calls { moves += bounds.kinds.map { .submit($0) } }
        for (index, call) in calls.enumerated() {
            switch call.phase {
            case .held: moves.append(.admit(index))
            case .debouncing: moves.append(.endDebounce(index))
            case .waiting, .finished: break
            case .ready:
                moves.append(.start(index))
                if bounds.isThorough && starting == index { moves.append(.postponeStart(index)) }
            case .delivering: moves.append(.awaitProvider(index))
            case .awaitingProvider: moves += bounds.isThorough ? [.beginDelivery(index), .end(index)] : [.end(index)]
            case .answering: moves += [.value(index), .end(index)]
            case .ended, .endedByCanceller: moves.append(.finish(index))
            }
            if call.isLate { moves.append(.answerLate(index)) }
            if call.phase != .finished { moves.append(.cancel(index)) }
        }
        if bounds.endsAll {
            if !wereAllCancelled { moves.append(.cancelAll) }
            if !isReleased { moves.append(.release) }
        }
        return moves
    }

    // Loops here and in `check()`: closures are slow without optimization, and both run a million times.
    var footprint: [UInt16] {
        var codes: [UInt16] = [(isReleased ? 1 : 0) + (wereAllCancelled ? 2 : 0)]
        codes.reserveCapacity(calls.count + line.count + 1)
        for index in calls.indices where bounds.distinguishesTwins || calls[index].phase != .waiting {
            let code = calls[index].code(isStrict: bounds.distinguishesTwins)
            codes.append(index == starting ? code | 1 << 12 : code)
        }
        if !bounds.distinguishesTwins { codes.sort() }
        for index in line {
            codes.append(bounds.distinguishesTwins ? UInt16(index) : calls[index].code(isStrict: false))
        }
        return codes
    }

    // MARK: Effects

    mutating func make(_ move: Move) throws(Violation) {
        switch move {
        case .submit(let kind): try submit(kind)
        case .admit(let index): try admit(index)
        case .endDebounce(let index):
            machine.endDebounce(ids[index])
            calls[index].phase = .ready
        case .start(let index): try start(index)
        case .postponeStart(let index): try noteStart(index)
        case .awaitProvider(let index): try awaitProvider(index)
        case .beginDelivery(let index):
            try expect(machine.updateDelivery(ids[index]) { $0.beginDelivery() }, .proceed)
            calls[index].phase = .answering
        case .value(let index): try commit(index, isFinal: false)
        case .end(let index): try commit(index, isFinal: true)
        case .answerLate(let index): try answerLate(index)
        case .finish(let index): try finish(index)
        case .cancel(let index): try cancelOne(index)
        case .cancelAll:
            wereAllCancelled = true
            try same(machine.cancelAll(.cancelled).compactMap(effect), cancelAll(.cancelled), "cancelAll")
        case .release:
            isReleased = true
            try same(machine.release().compactMap(effect), cancelAll(.released), "release")
        }
        try check()
        // An old ID could match again only when a slot changes hands.
        switch move {
        case .submit, .finish: try checkFinished()
        default: break
        }
    }

    private mutating func submit(_ kind: SubmissionKind) throws(Violation) {
        let index = calls.count
        calls.append(Call(kind: kind))
        let submission = machine.submit(index, kind)
        ids.append(submission.id)
        let (result, superseded) = (submission.result, effect(submission.superseded))
        if kind == .held {
            try same(result, .wait, "result of held call \(index)")
            try same(superseded, nil, "superseded by held call \(index)")
            if isReleased { reject(index, .released) }
            return
        }
        try decide(index, result, superseded)
    }

    private mutating func admit(_ index: Int) throws(Violation) {
        let submission = machine.admit(ids[index])
        calls[index].kind = .withBegin
        try decide(index, submission.result, effect(submission.superseded))
    }

    /// Admits a call by the rule, as the contract states it, and compares.
    private mutating func decide(
        _ index: Int, _ result: AdmissionResult, _ superseded: Effect?
    ) throws(Violation) {
        var expected = AdmissionResult.start
        var expectedSuperseded: Effect?
        let holder = calls.indices.first { $0 != index && calls[$0].isUndecided }
        switch rule {
        case _ where isReleased:
            reject(index, .released)
        case .only where holder != nil:
            reject(index, .ignored)
        case .queue(let width, let limit) where isLineClosed(width):
            guard line.count < limit.addingSaturating(freePlaces(width)) else {
                reject(index, .ignored)
                break
            }
            expected = .wait
            calls[index].phase = .waiting
            line.append(index)
        case .latest(let debounces):
            expectedSuperseded = holder.flatMap { cancel($0, .superseded) }
            calls[index].phase = debounces ? .debouncing : .ready
            if debounces { expected = .debounce }
        case .default, .only, .queue:
            calls[index].phase = .ready
            if case .queue = rule { calls[index].isInside = true }
        }
        arrivals.append(index)
        if calls[index].phase == .ready && calls[index].cancelled == nil && calls[index].kind == .withoutBegin {
            expected = .started
            calls[index].phase = .awaitingProvider
            calls[index].hasBegun = true
        }
        try same(result, expected, "result of call \(index)")
        try same(superseded, expectedSuperseded, "superseded by call \(index)")
    }

    /// True if a new call has to wait: the line is full, or an earlier call has not left it or not started.
    private func isLineClosed(_ width: Int) -> Bool {
        calls.count(where: \.isInside) >= width || !line.isEmpty || starting != nil
    }

    /// The places without a running call. A call whose end is decided doesn't count as running.
    private func freePlaces(_ width: Int) -> Int {
        width - calls.count { $0.isInside && !$0.isEnded }
    }

    private mutating func reject(_ index: Int, _ reason: CancelReason) {
        calls[index].phase = .ready
        calls[index].cancelled = reason
    }

    private mutating func start(_ index: Int) throws(Violation) {
        let hasBeginHandler = calls[index].kind == .withBegin
        let step = machine.updateDelivery(ids[index]) { hasBeginHandler ? $0.start() : $0.startWithoutBegin() }
        let proceeds = try proceeds(index, step)
        try noteStart(index)
        guard proceeds else { return }
        if case .queue = rule {
            try require(calls[index].isInside, "Call \(index) began without a place")
        }
        calls[index].hasBegun = true
        calls[index].phase = hasBeginHandler ? .delivering : .awaitingProvider
    }

    private mutating func noteStart(_ index: Int) throws(Violation) {
        let next = machine.noteStart(ids[index])
        var expected: Int?
        if starting == index {
            starting = nil
            expected = admitFirstOfLine()
        }
        try same(next, expected, "admitted by the start of call \(index)")
    }

    private mutating func awaitProvider(_ index: Int) throws(Violation) {
        let step = machine.updateDelivery(ids[index]) { $0.awaitProvider() }
        if try proceeds(index, step) { calls[index].phase = .awaitingProvider }
    }

    private mutating func commit(_ index: Int, isFinal: Bool) throws(Violation) {
        guard try proceeds(index, machine.updateDelivery(ids[index]) { $0.commit(isFinal: isFinal) }) else { return }
        if case .latest = rule {
            try require(arrivals.last == index, "Call \(index) committed after a newer one was admitted")
        }
        calls[index].phase = isFinal ? .ended : .delivering
        if isFinal { calls[index].ends += 1 }
    }

    /// Returns false if the call was cancelled: its task delivers the cancellation.
    private mutating func proceeds(_ index: Int, _ step: DeliveryStateMachine.NextStep?) throws(Violation) -> Bool {
        guard let reason = calls[index].cancelled else {
            try expect(step, .proceed)
            return true
        }
        try expect(step, .deliverCancellation(reason))
        calls[index].phase = .ended
        calls[index].ends += 1
        return false
    }

    private mutating func answerLate(_ index: Int) throws(Violation) {
        let expected: DeliveryStateMachine.NextStep? = calls[index].phase == .finished ? nil : .stop
        var copy = machine
        try expect(copy.updateDelivery(ids[index]) { $0.beginDelivery() }, expected)
        try expect(machine.updateDelivery(ids[index]) { $0.commit(isFinal: true) }, expected)
        calls[index].isLate = false
    }

    private mutating func finish(_ index: Int) throws(Violation) {
        let next = machine.finish(ids[index])
        let wasInside = calls[index].isInside
        calls[index].isInside = false
        calls[index].phase = .finished
        if starting == index { starting = nil }
        try same(next, wasInside ? admitFirstOfLine() : nil, "admitted by the finish of call \(index)")
    }

    /// One call leaves the line at a time: the next one only when it has started.
    private mutating func admitFirstOfLine() -> Int? {
        guard case .queue(let width, _) = rule, starting == nil, !line.isEmpty,
            calls.count(where: \.isInside) < width
        else { return nil }
        let next = line.removeFirst()
        calls[next].phase = .ready
        calls[next].isInside = true
        starting = next
        return next
    }

    private mutating func cancelOne(_ index: Int) throws(Violation) {
        // In a variable: without optimization a copy would be held during the call, and each change copy all of it.
        let cancellation = machine.cancel(ids[index], .cancelled)
        try same(effect(cancellation), cancel(index, .cancelled), "cancel")
    }

    private func effect(_ cancellation: AdmissionStateMachine<Int>.Cancellation) -> Effect? {
        switch cancellation {
        case .none: return nil
        case .resume(let call): return .resume(call)
        case .cancelTask(let call): return .cancelTask(call)
        case .deliver(let call, let id, let reason):
            precondition(id == ids[call])
            return .deliver(call, reason)
        }
    }

    private mutating func cancel(_ index: Int, _ reason: CancelReason) -> Effect? {
        guard calls[index].cancelled == nil else { return nil }
        switch calls[index].phase {
        case .held, .debouncing, .waiting:
            line.removeAll { $0 == index }
            reject(index, reason)
            return .resume(index)
        case .ready, .delivering, .answering:
            calls[index].cancelled = reason
            return .cancelTask(index)
        case .awaitingProvider:
            calls[index].phase = .endedByCanceller
            calls[index].isLate = bounds.isThorough
            calls[index].ends += 1
            return .deliver(index, reason)
        case .ended, .endedByCanceller, .finished:
            return nil
        }
    }

    private mutating func cancelAll(_ reason: CancelReason) -> [Effect] {
        calls.indices.compactMap { cancel($0, reason) }
    }

    // MARK: Invariants

    private func check() throws(Violation) {
        var inside = 0
        var running = 0
        var undecided = 0
        var isEmpty = true
        for index in calls.indices {
            let call = calls[index]
            try require(call.ends == (call.isEnded ? 1 : 0), "Call \(index) ended \(call.ends) times")
            try require(machine.isHeld(ids[index]) == (call.phase == .held), "isHeld of call \(index)")
            try require(machine.isWaiting(ids[index]) == (call.phase == .waiting), "isWaiting of call \(index)")
            try require(machine.isOpen(ids[index]) == !call.isEnded, "isOpen of call \(index)")
            if call.isInside { inside += 1 }
            if call.isRunning { running += 1 }
            if call.isUndecided { undecided += 1 }
            if call.phase != .finished { isEmpty = false }
        }
        try require(machine.isEmpty == isEmpty, "isEmpty")
        try require(!isReleased || undecided == 0 && line.isEmpty, "A call continues after the release")
        switch rule {
        case .default:
            break
        case .only, .latest:
            try require(undecided <= 1, "\(undecided) calls have the place")
        case .queue(let width, let limit):
            try require(running <= inside && inside <= width, "\(running) run in \(inside) places")
            try require(line.count <= limit.addingSaturating(freePlaces(width)), "\(line.count) wait in line")
            try require(line.isEmpty || inside == width || starting != nil, "A call waits though a place is free")
            var isWaiting = false
            for index in arrivals {
                if calls[index].phase == .waiting || index == starting { isWaiting = true }
                try require(!isWaiting || !calls[index].hasBegun, "Call \(index) began before one that came before it")
            }
        }
    }

    /// The IDs of finished calls match nothing, although other calls use their slots.
    private func checkFinished() throws(Violation) {
        let waitingCount = calls.count { [.held, .debouncing, .waiting].contains($0.phase) }
        try require(machine.waitingCount == waitingCount, "waitingCount")
        var copy = machine
        for index in calls.indices where calls[index].phase == .finished {
            try require(copy.updateDelivery(ids[index]) { $0.hasEnded } == nil, "Call \(index) still delivers")
            try require(effect(copy.cancel(ids[index], .cancelled)) == nil, "Call \(index) can still be cancelled")
        }
    }

    private func expect(
        _ step: DeliveryStateMachine.NextStep?, _ expected: DeliveryStateMachine.NextStep?
    ) throws(Violation) {
        try same(step, expected, "the next step")
    }

    private func same<Value: Equatable>(_ value: Value, _ expected: Value, _ what: String) throws(Violation) {
        try require(value == expected, "\(what): \(value) instead of \(expected)")
    }
}
