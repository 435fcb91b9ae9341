import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

/// Every order of moves of a call's task, its progress pump, its reporters and its cancellers.
@Suite(.timeLimit(.ample))
struct DeliveryExplorationTests {
    @Test func `one party delivers at a time, one delivers the end, no last report is lost`() {
        let found = Exploration(of: DeliveryWalk(.init()))
        #expect(found.violation == nil)
        #expect(found.states > 1_000)
    }

    @Test func `a call without progress handlers keeps the same rules`() {
        let found = Exploration(of: DeliveryWalk(.init(cancels: 3, values: 2, retries: 2, reportsProgress: false)))
        #expect(found.violation == nil)
        #expect(found.states > 50)
    }

    @Test func `the end is decided at most once for any order of events`() {
        let found = Exploration(of: DeliveryChaos())
        #expect(found.violation == nil)
        #expect(found.states > 20)
    }

    @Test(.enabled(if: Volume.isFull, "IDM_SOAK=1 walks this far"), .timeLimit(.ample))
    func `more reports, cancels, values and retries break no rule`() {
        let found = Exploration(of: DeliveryWalk(.init(reports: 5, cancels: 3, values: 2, retries: 2)))
        #expect(found.violation == nil)
    }
}

/// Every event in every reachable state, also events that no call would send.
private struct DeliveryChaos: Explorable {
    enum Move: CaseIterable {
        case start, startWithoutBegin, awaitProvider, awaitProviderAgain, beginDelivery, value, end
        case submitLess, submitMore, beginProgress, endProgress, cancel, supersede
    }

    private var machine = DeliveryStateMachine()
    private var ends = 0
    private var cancels = 0
    private var fraction = 0.0

    var moves: [Move] { Move.allCases }

    var footprint: String { "\(machine) \(ends) \(cancels) \(fraction)" }

    mutating func make(_ move: Move) throws(Violation) {
        let hadEnded = machine.hasEnded
        switch move {
        case .start: try note(machine.start())
        case .startWithoutBegin: try note(machine.startWithoutBegin())
        case .awaitProvider: try note(machine.awaitProvider())
        case .awaitProviderAgain: try note(machine.awaitProvider(hasDeliveredProgress: true))
        case .beginDelivery: try note(machine.beginDelivery())
        case .value: try note(machine.commit(isFinal: false))
        case .end: try note(machine.commit(isFinal: true), isFinal: true)
        case .submitLess: _ = machine.submit(IntegrationProgress(fraction: 0.25))
        case .submitMore: _ = machine.submit(IntegrationProgress(fraction: 0.75))
        case .beginProgress: if let progress = machine.beginProgressDelivery() { try noteDelivery(progress) }
        case .endProgress: try note(machine.endProgressDelivery())
        case .cancel: note(machine.cancel(.cancelled))
        case .supersede: note(machine.cancel(.superseded))
        }
        try require(ends <= 1, "The end was decided \(ends) times")
        try require(cancels <= 1, "\(cancels) cancels were accepted")
        try require(machine.hasEnded == (ends == 1), "The end was decided, and no party delivers it")
        try require(!hadEnded || machine.hasEnded, "The end was taken back")
        try require(
            !machine.allowsIntermediateEvents || ends + cancels == 0,
            "An event would be delivered after the end or a cancel")
    }

    private mutating func note(_ step: DeliveryStateMachine.NextStep, isFinal: Bool = false) throws(Violation) {
        switch step {
        case .proceed: if isFinal { ends += 1 }
        case .deliverCancellation: ends += 1
        case .deliverProgress(let progress): try noteDelivery(progress)
        case .proceedAndSchedulePump, .waitForPump, .stop: break
        }
    }

    private mutating func note(_ step: DeliveryStateMachine.ProgressStep) throws(Violation) {
        switch step {
        case .deliverProgress(let progress): try noteDelivery(progress)
        case .deliverCancellation: ends += 1
        case .stop, .resumeCallTask: break
        }
    }

    private mutating func note(_ step: DeliveryStateMachine.CancelStep) {
        switch step {
        case .cancelTask: cancels += 1
        case .cancelTaskAndDeliver:
            cancels += 1
            ends += 1
        case .ignore: break
        }
    }

    private mutating func noteDelivery(_ progress: IntegrationProgress) throws(Violation) {
        try require(ends + cancels == 0, "Progress was delivered after the end or a cancel")
        try require(progress.fraction >= fraction, "A fraction decreased")
        fraction = progress.fraction
    }
}
