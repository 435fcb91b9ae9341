import IDMTesting
import TestSupport

@testable import IDMCore

/// One call, with every move that its task, its progress pump, its reporters and its cancellers can make.
///
/// Each party acts on the machine's answers as the code of a call does, one turn at a time. The walk records which party
/// delivers, which progress was delivered and which party delivers the end, and checks that after each move.
struct DeliveryWalk: Explorable {
    struct Bounds {
        var reports = 3
        var cancels = 2
        /// The number of values before the last answer, and of retries.
        var values = 1
        var retries = 1
        /// False for a call without progress handlers: it commits its last answer without `beginDelivery()`.
        var reportsProgress = true
    }

    enum Move {
        case start(hasBeginHandler: Bool)
        case awaitProvider
        /// The provider answers, and the call's task begins the delivery.
        case answer(Answer)
        /// The call's task asks again: after a progress delivery, or after a resume, which may be spurious.
        case beginDelivery
        /// The call's task commits its answer.
        case commit
        case submit(Double)
        /// A scheduled pump starts.
        case pumpStarts
        /// The pump calls the progress handler.
        case pumpDelivers
        case pumpEnds
        case cancel(CancelReason)
    }

    enum Answer: Hashable { case value, last, retry }

    /// The state of the call's own task.
    private enum CallTask: Hashable {
        case notStarted
        /// Handlers run, but not those of the end. `awaitProvider()` follows.
        case delivering
        /// It has delivered a progress value and asks again.
        case hasDeliveredProgress
        case awaitingProvider
        /// It may deliver; progress may come before its answer.
        case hasAnswer(Answer)
        /// It can commit its answer.
        case readyToCommit(Answer)
        case suspended(Answer, Wake)
        case returned
    }

    private enum Wake: Hashable { case none, toDeliver, toReturn }

    private enum Pump: Hashable {
        case idle
        case readyToDeliver(IntegrationProgress)
        case hasDelivered
    }

    private struct Facts: Hashable {
        var task = CallTask.notStarted
        var pump = Pump.idle
        /// The number of pumps that are scheduled and have not started.
        var scheduledPumps = 0
        var cancelled: CancelReason?
        var ends = 0
        /// Numbers of reports: the last submitted, the last delivered, and the one that is due before the answer.
        var reported: Int64 = 0
        var delivered: Int64 = 0
        var due: Int64 = 0
        var fraction = 0.0
        var hasAsked = false
        var cancels = 0
        var values = 0
        var retries = 0
    }

    struct Footprint: Hashable {
        private let facts: Facts
        private let machine: DeliveryStateMachine

        fileprivate init(_ walk: DeliveryWalk) {
            (facts, machine) = (walk.facts, walk.machine)
        }
    }

    let bounds: Bounds
    private var machine = DeliveryStateMachine()
    private var facts = Facts()

    init(_ bounds: Bounds) {
        self.bounds = bounds
    }

    /// Includes the machine: its private state counts.
    var footprint: Footprint { Footprint(self) }

    // MARK: Possible moves

    var moves: [Move] {
        var moves: [Move] = []
        switch facts.task {
        case .notStarted:
            moves += [.start(hasBeginHandler: true), .start(hasBeginHandler: false)]
        case .delivering, .hasDeliveredProgress:
            moves.append(.awaitProvider)
        case .awaitingProvider:
            moves.append(.answer(.last))
            if facts.values < bounds.values { moves.append(.answer(.value)) }
            if facts.retries < bounds.retries { moves.append(.answer(.retry)) }
        case .hasAnswer, .suspended:
            moves.append(.beginDelivery)
        case .readyToCommit:
            moves.append(.commit)
        case .returned:
            break
        }
        if facts.scheduledPumps > 0 { moves.append(.pumpStarts) }
        switch facts.pump {
        case .idle: break
        case .readyToDeliver: moves.append(.pumpDelivers)
        case .hasDelivered: moves.append(.pumpEnds)
        }
        if bounds.reportsProgress && facts.hasAsked && facts.reported < bounds.reports {
            moves += [.submit(0.25), .submit(0.75)]
        }
        if facts.cancels < bounds.cancels { moves += [.cancel(.cancelled), .cancel(.superseded)] }
        return moves
    }

    // MARK: Effects

    mutating func make(_ move: Move) throws(Violation) {
        switch move {
        case .start(let hasBeginHandler): try start(hasBeginHandler)
        case .awaitProvider: try awaitProvider()
        case .answer(let answer): try self.answer(answer)
        case .beginDelivery: try beginDelivery()
        case .commit: try commit()
        case .submit(let fraction): try submit(fraction)
        case .pumpStarts: try pumpStarts()
        case .pumpDelivers: try pumpDelivers()
        case .pumpEnds: try pumpEnds()
        case .cancel(let reason): try cancel(reason)
        }
        try check()
    }

    private mutating func start(_ hasBeginHandler: Bool) throws(Violation) {
        switch hasBeginHandler ? machine.start() : machine.startWithoutBegin() {
        case .proceed:
            try require(facts.cancelled == nil, "A cancelled call began")
            facts.task = hasBeginHandler ? .delivering : .awaitingProvider
            facts.hasAsked = !hasBeginHandler
        case .deliverCancellation(let reason):
            try end(by: reason)
        case let turn:
            throw Violation("start() returned \(turn)")
        }
    }

    private mutating func awaitProvider() throws(Violation) {
        let hasDelivered = facts.task == .hasDeliveredProgress
        switch machine.awaitProvider(hasDeliveredProgress: hasDelivered) {
        case .proceed:
            facts.task = .awaitingProvider
            facts.hasAsked = true
        case .proceedAndSchedulePump:
            try require(hasDelivered && facts.delivered < facts.reported, "A pump was scheduled without progress")
            facts.task = .awaitingProvider
            facts.hasAsked = true
            facts.scheduledPumps += 1
        case .deliverProgress(let progress):
            try require(!hasDelivered, "A second progress value delays the provider")
            facts.task = .hasDeliveredProgress
            try noteDelivery(progress)
        case .deliverCancellation(let reason):
            try end(by: reason)
        case let turn:
            throw Violation("awaitProvider() returned \(turn)")
        }
    }

    private mutating func answer(_ answer: Answer) throws(Violation) {
        facts.due = facts.reported
        if answer == .value { facts.values += 1 }
        if answer == .retry { facts.retries += 1 }
        // Without progress handlers the last answer is committed at once.
        facts.task = bounds.reportsProgress || answer != .last ? .hasAnswer(answer) : .readyToCommit(answer)
        if case .hasAnswer = facts.task { try beginDelivery() }
    }

    private mutating func beginDelivery() throws(Violation) {
        let isForNothing: Bool
        let answer: Answer
        switch facts.task {
        case .hasAnswer(let waiting): (answer, isForNothing) = (waiting, false)
        case .suspended(let waiting, let wake): (answer, isForNothing) = (waiting, wake == .none)
        default: throw Violation("Only a call with an answer begins a delivery")
        }
        switch machine.beginDelivery() {
        case .proceed:
            try require(!isForNothing, "A spurious resume began a delivery")
            facts.task = .readyToCommit(answer)
        case .deliverProgress(let progress):
            try require(!isForNothing, "A spurious resume began a delivery")
            facts.task = .hasAnswer(answer)
            try noteDelivery(progress)
        case .waitForPump:
            try require(facts.pump != .idle, "The call's task waits, and no pump will resume it")
            facts.task = .suspended(answer, .none)
        case .stop:
            try require(facts.ends == 1, "The call's task returned before the end")
            facts.task = .returned
        case .proceedAndSchedulePump:
            throw Violation("beginDelivery() scheduled a pump")
        case .deliverCancellation(let reason):
            throw Violation("beginDelivery() delivers \(reason) before the handler's turn")
        }
    }

    private mutating func commit() throws(Violation) {
        guard case .readyToCommit(let answer) = facts.task else { throw Violation("No answer to commit") }
        if answer == .retry {
            try same(
                machine.allowsIntermediateEvents, facts.cancelled == nil,
                "a retry event is delivered unless the call was cancelled")
            facts.task = .delivering
            return
        }
        switch machine.commit(isFinal: answer == .last) {
        case .proceed:
            try require(facts.cancelled == nil, "An answer was committed after a cancel")
            try require(facts.delivered >= facts.due, "An answer was delivered before the last report")
            if answer == .last { try end(by: nil) } else { facts.task = .delivering }
        case .deliverCancellation(let reason):
            try end(by: reason)
        case .stop:
            try require(facts.ends == 1 && !bounds.reportsProgress, "The delivering task was stopped")
            facts.task = .returned
        case let turn:
            throw Violation("commit() returned \(turn)")
        }
    }

    private mutating func submit(_ fraction: Double) throws(Violation) {
        let isOver = facts.ends == 1 || facts.cancelled != nil
        let isDelivering = isDelivering
        facts.reported += 1
        let progress = IntegrationProgress(fraction: fraction, completed: facts.reported)
        switch machine.submit(progress) {
        case .schedulePump:
            try require(!isOver && !isDelivering, "A pump was scheduled while another party delivers")
            facts.scheduledPumps += 1
        case .recorded:
            try require(isOver || isDelivering || facts.scheduledPumps > 0, "A report was dropped")
        }
    }

    private mutating func pumpStarts() throws(Violation) {
        let isOver = facts.ends == 1 || facts.cancelled != nil
        facts.scheduledPumps -= 1
        if let progress = machine.beginProgressDelivery() {
            try require(!isOver && !isDelivering, "A pump delivers beside another party")
            facts.pump = .readyToDeliver(progress)
        } else {
            try require(isOver || isDelivering || facts.delivered == facts.reported, "A pump left a report undelivered")
        }
    }

    private mutating func pumpDelivers() throws(Violation) {
        guard case .readyToDeliver(let progress) = facts.pump else { throw Violation("The pump has no progress") }
        facts.pump = .hasDelivered
        if machine.allowsIntermediateEvents { try noteDelivery(progress) }
    }

    private mutating func pumpEnds() throws(Violation) {
        facts.pump = .idle
        switch machine.endProgressDelivery() {
        case .stop:
            break
        case .deliverProgress(let progress):
            facts.pump = .readyToDeliver(progress)
        case .resumeCallTask:
            guard case .suspended(let answer, .none) = facts.task else {
                throw Violation("The pump resumed a task that doesn't wait")
            }
            facts.task = .suspended(answer, .toDeliver)
        case .deliverCancellation(let reason, let callTaskWaits):
            if case .suspended(let answer, .none) = facts.task {
                try require(callTaskWaits, "A waiting task was not resumed")
                facts.task = .suspended(answer, .toReturn)
            } else {
                try require(!callTaskWaits, "A task was resumed that doesn't wait")
            }
            try same(reason, facts.cancelled, "the reason that the pump delivers")
            facts.ends += 1
        }
    }

    private mutating func cancel(_ reason: CancelReason) throws(Violation) {
        facts.cancels += 1
        let expected: DeliveryStateMachine.CancelStep
        if facts.cancelled != nil || facts.ends == 1 {
            expected = .ignore
        } else if facts.task == .notStarted || isDelivering {
            expected = .cancelTask
        } else {
            expected = .cancelTaskAndDeliver
        }
        try same(machine.cancel(reason), expected, "the effect of a cancel")
        if expected != .ignore { facts.cancelled = reason }
        if expected == .cancelTaskAndDeliver { facts.ends += 1 }
    }

    /// The call's own task delivers the end.
    private mutating func end(by reason: CancelReason?) throws(Violation) {
        try same(reason, facts.cancelled, "the reason that the call's task delivers")
        try require(facts.pump == .idle, "The end was delivered while the pump delivers")
        facts.ends += 1
        facts.task = .returned
    }

    private mutating func noteDelivery(_ progress: IntegrationProgress) throws(Violation) {
        let count = progress.completed ?? 0
        try require(facts.ends == 0 && facts.cancelled == nil, "Progress was delivered after the end or a cancel")
        try require(count > facts.delivered, "Report \(count) was delivered after report \(facts.delivered)")
        try require(progress.fraction >= facts.fraction, "A fraction decreased")
        facts.delivered = count
        facts.fraction = progress.fraction
    }

    // MARK: Invariants

    private var callTaskDelivers: Bool {
        switch facts.task {
        case .delivering, .hasDeliveredProgress, .hasAnswer, .suspended(_, .toDeliver): true
        // Without progress handlers the last answer is committed without `beginDelivery()`.
        case .readyToCommit(let answer): bounds.reportsProgress || answer != .last
        case .notStarted, .awaitingProvider, .suspended, .returned: false
        }
    }

    private var isDelivering: Bool {
        callTaskDelivers || facts.pump != .idle
    }

    private func check() throws(Violation) {
        try require(facts.ends <= 1, "The end was decided \(facts.ends) times")
        try require(!callTaskDelivers || facts.pump == .idle, "The call's task and the pump deliver at the same time")
        try require(facts.ends == 0 || !isDelivering, "A party delivers beside the one that delivers the end")
        try same(machine.hasEnded, facts.ends == 1, "hasEnded")
        try same(machine.allowsIntermediateEvents, isDelivering && facts.cancelled == nil, "allowsIntermediateEvents")
        if case .suspended(_, .none) = facts.task {
            try require(facts.pump != .idle, "The call's task waits, and no pump will resume it")
        }
        if facts.task == .awaitingProvider && facts.pump == .idle && facts.cancelled == nil {
            try require(facts.delivered == facts.reported || facts.scheduledPumps > 0, "A report was forgotten")
        }
        if facts.task == .returned && facts.pump == .idle {
            try require(facts.ends == 1, "All parties returned, and the end was not decided")
        }
    }

    private func same<Value: Equatable>(_ value: Value, _ expected: Value, _ what: String) throws(Violation) {
        try require(value == expected, "\(what): \(value) instead of \(expected)")
    }
}
