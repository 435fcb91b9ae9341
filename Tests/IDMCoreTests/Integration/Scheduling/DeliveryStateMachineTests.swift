import TestSupport
import Testing

@testable import IDMCore

/// The answer to each event in each state, as short scripts. The exploration tests walk every order of events.
struct DeliveryStateMachineTests {
    @Test(arguments: Script.all)
    func `each step of a script returns what the script says`(script: Script) {
        var machine = DeliveryStateMachine()

        let steps = script.steps.map { $0.performed(on: &machine) }

        #expect(steps == script.steps)
    }
}

/// Every order of moves of a call's task, its progress pump, its reporters and its cancellers.
@Suite(.timeLimit(.ample))
struct DeliveryExplorationTests {
    @Test func `one party delivers at a time, and no last report is lost`() {
        let found = Exploration(of: DeliveryWalk(.init()))
        #expect(found.violation == nil)
        #expect(found.states > 1_000)
    }

    @Test func `a call without progress handlers keeps the same rules`() {
        let found = Exploration(of: DeliveryWalk(.init(cancels: 3, values: 2, retries: 2, reportsProgress: false)))
        #expect(found.violation == nil)
        #expect(found.states > 50)
    }

    @Test(.enabled(if: Volume.isFull, "IDM_SOAK=1 walks this far"), .timeLimit(.ample))
    func `more reports, cancels, values and retries break no rule`() {
        let found = Exploration(of: DeliveryWalk(.init(reports: 5, cancels: 3, values: 2, retries: 2)))
        #expect(found.violation == nil)
    }
}

/// An event with the answer that it is expected to return.
enum Step: Hashable {
    case start(DeliveryStateMachine.NextStep)
    case startWithoutBegin(DeliveryStateMachine.NextStep)
    case awaitProvider(DeliveryStateMachine.NextStep)
    case awaitProviderAgain(DeliveryStateMachine.NextStep)
    case beginDelivery(DeliveryStateMachine.NextStep)
    case commitValue(DeliveryStateMachine.NextStep)
    case commitFinal(DeliveryStateMachine.NextStep)
    case submit(IntegrationProgress, DeliveryStateMachine.ProgressSubmission)
    case beginProgress(IntegrationProgress?)
    case endProgress(DeliveryStateMachine.ProgressStep)
    case cancel(CancelReason, DeliveryStateMachine.CancelStep)

    /// Sends the event to `machine` and returns it with the actual answer.
    func performed(on machine: inout DeliveryStateMachine) -> Step {
        switch self {
        case .start: .start(machine.start())
        case .startWithoutBegin: .startWithoutBegin(machine.startWithoutBegin())
        case .awaitProvider: .awaitProvider(machine.awaitProvider())
        case .awaitProviderAgain: .awaitProviderAgain(machine.awaitProvider(hasDeliveredProgress: true))
        case .beginDelivery: .beginDelivery(machine.beginDelivery())
        case .commitValue: .commitValue(machine.commit(isFinal: false))
        case .commitFinal: .commitFinal(machine.commit(isFinal: true))
        case .submit(let progress, _): .submit(progress, machine.submit(progress))
        case .beginProgress: .beginProgress(machine.beginProgressDelivery())
        case .endProgress: .endProgress(machine.endProgressDelivery())
        case .cancel(let reason, _): .cancel(reason, machine.cancel(reason))
        }
    }
}

struct Script: CustomTestStringConvertible {
    let testDescription: String
    let steps: [Step]

    init(_ testDescription: String, _ steps: Step...) {
        self.testDescription = testDescription
        self.steps = steps
    }

    private static let half = IntegrationProgress(fraction: 0.5)
    private static let most = IntegrationProgress(fraction: 0.75)

    static let all = [
        // Not started
        Script(
            "nothing but start is answered before the start",
            .awaitProvider(.stop), .beginDelivery(.stop), .commitFinal(.stop), .endProgress(.stop),
            .submit(half, .recorded), .start(.proceed)),
        Script(
            "a cancel before the start replaces the begin event",
            .cancel(.superseded, .cancelTask), .cancel(.cancelled, .ignore), .start(.deliverCancellation(.superseded))),
        Script(
            "a call starts once",
            .start(.proceed), .start(.stop), .startWithoutBegin(.stop)),

        // The call's task delivers
        Script(
            "a cancel during the begin event is delivered before the provider is asked",
            .start(.proceed), .cancel(.released, .cancelTask), .awaitProvider(.deliverCancellation(.released))),
        Script(
            "a cancel during a delivery replaces the answer that is not committed",
            .startWithoutBegin(.proceed), .beginDelivery(.proceed), .cancel(.superseded, .cancelTask),
            .beginDelivery(.proceed), .commitFinal(.deliverCancellation(.superseded))),
        Script(
            "only the latest of several progress values is delivered",
            .start(.proceed), .submit(half, .recorded), .submit(most, .recorded),
            .awaitProvider(.deliverProgress(most)), .awaitProviderAgain(.proceed)),
        Script(
            "progress during a progress delivery is left to the pump",
            .start(.proceed), .submit(half, .recorded), .awaitProvider(.deliverProgress(half)),
            .submit(most, .recorded), .awaitProviderAgain(.proceedAndSchedulePump), .beginProgress(most),
            .endProgress(.stop)),

        // The provider runs
        Script(
            "a cancel while the provider runs is delivered by the canceller",
            .startWithoutBegin(.proceed), .cancel(.cancelled, .cancelTaskAndDeliver), .beginDelivery(.stop),
            .commitFinal(.stop)),
        Script(
            "a value that is not final keeps the call delivering",
            .startWithoutBegin(.proceed), .commitValue(.proceed), .awaitProvider(.proceed)),
        Script(
            "an answer delivers pending progress before the pump does",
            .startWithoutBegin(.proceed), .submit(half, .schedulePump), .beginDelivery(.deliverProgress(half)),
            .beginDelivery(.proceed), .beginProgress(nil), .commitFinal(.proceed)),

        // The pump delivers
        Script(
            "an answer waits for the pump to finish",
            .startWithoutBegin(.proceed), .submit(half, .schedulePump), .beginProgress(half),
            .beginDelivery(.waitForPump), .commitFinal(.stop), .endProgress(.resumeCallTask),
            .beginDelivery(.proceed), .commitFinal(.proceed)),
        Script(
            "a cancel during a progress delivery is delivered by the pump",
            .startWithoutBegin(.proceed), .submit(half, .schedulePump), .beginProgress(half),
            .beginDelivery(.waitForPump), .cancel(.superseded, .cancelTask),
            .endProgress(.deliverCancellation(.superseded, callTaskWaits: true)), .beginDelivery(.stop)),
        Script(
            "a fraction never decreases",
            .startWithoutBegin(.proceed), .submit(most, .schedulePump), .beginProgress(most),
            .submit(half, .recorded), .endProgress(.deliverProgress(most))),

        // Ended
        Script(
            "every event after the end is ignored",
            .startWithoutBegin(.proceed), .commitFinal(.proceed), .awaitProvider(.stop), .beginDelivery(.stop),
            .commitValue(.stop), .endProgress(.stop), .submit(most, .recorded), .cancel(.cancelled, .ignore)),
    ]
}
