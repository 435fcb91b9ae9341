import Testing

@testable import IDMCore

/// Each rule as a short script. ``AdmissionExplorationTests`` walks every order of moves.
struct AdmissionStateMachineTests {
    @Test(arguments: AdmissionScript.all)
    func `each step of a script returns what the script says`(script: AdmissionScript) {
        var probe = AdmissionProbe(script.rule)

        let steps = script.steps.map { $0.performed(on: &probe) }

        #expect(steps == script.steps)
    }

    @Test(arguments: AdmissionExplorationTests.rules)
    func `a release ends every call and rejects later ones`(rule: AdmissionRule) {
        var probe = AdmissionProbe(rule)
        _ = probe.submit(.withBegin)
        _ = probe.release()
        _ = probe.submit(.withoutBegin)
        _ = probe.submit(.held)

        let starts = (0...2).map { call in probe.deliver(call) { $0.start() } }
        for call in 0...2 { _ = probe.finish(call) }

        #expect(
            starts == [
                .deliverCancellation(.released), .deliverCancellation(.released), .deliverCancellation(.released),
            ])
        #expect(probe.isEmpty)
    }

    @Test func `a line keeps the order of ten thousand calls when every third is cancelled`() {
        var probe = AdmissionProbe(.queue(width: 1, limit: .max))
        let calls = 0..<10_000
        for _ in calls { _ = probe.submit(.withoutBegin) }
        for call in calls.dropFirst() where call % 3 == 0 { _ = probe.cancel(call, .cancelled) }

        var order = [0]
        while let next = probe.finish(order.last!) {
            _ = probe.noteStart(next)
            order.append(next)
        }

        #expect(order == calls.filter { $0 == 0 || $0 % 3 != 0 })
    }
}

/// An event with the answer that it is expected to return. Calls are numbered from 0 in the order of submission.
enum AdmissionStep: Hashable {
    case submit(SubmissionKind, AdmissionResult, superseding: AdmissionProbe.Effect? = nil)
    case admit(Int, AdmissionResult, superseding: AdmissionProbe.Effect? = nil)
    case endDebounce(Int)
    case start(Int, DeliveryStateMachine.NextStep?)
    case beginDelivery(Int, DeliveryStateMachine.NextStep?)
    case commit(Int, DeliveryStateMachine.NextStep?)
    case noteStart(Int, next: Int?)
    case cancel(Int, AdmissionProbe.Effect?)
    case cancelAll([AdmissionProbe.Effect])
    case finish(Int, next: Int?)
    case isHeld(Int, Bool)
    case isWaiting(Int, Bool)
    case isOpen(Int, Bool)
    case waitingCount(Int)
    case isEmpty(Bool)

    /// Sends the event to `probe` and returns it with the actual answer.
    func performed(on probe: inout AdmissionProbe) -> AdmissionStep {
        switch self {
        case .submit(let kind, _, _):
            let (result, superseded) = probe.submit(kind)
            return .submit(kind, result, superseding: superseded)
        case .admit(let call, _, _):
            let (result, superseded) = probe.admit(call)
            return .admit(call, result, superseding: superseded)
        case .endDebounce(let call):
            probe.endDebounce(call)
            return self
        case .start(let call, _): return .start(call, probe.deliver(call) { $0.start() })
        case .beginDelivery(let call, _): return .beginDelivery(call, probe.deliver(call) { $0.beginDelivery() })
        case .commit(let call, _): return .commit(call, probe.deliver(call) { $0.commit(isFinal: true) })
        case .noteStart(let call, _): return .noteStart(call, next: probe.noteStart(call))
        case .cancel(let call, _): return .cancel(call, probe.cancel(call, .cancelled))
        case .cancelAll: return .cancelAll(probe.cancelAll(.cancelled))
        case .finish(let call, _): return .finish(call, next: probe.finish(call))
        case .isHeld(let call, _): return .isHeld(call, probe.isHeld(call))
        case .isWaiting(let call, _): return .isWaiting(call, probe.isWaiting(call))
        case .isOpen(let call, _): return .isOpen(call, probe.isOpen(call))
        case .waitingCount: return .waitingCount(probe.waitingCount)
        case .isEmpty: return .isEmpty(probe.isEmpty)
        }
    }
}

struct AdmissionScript: CustomTestStringConvertible {
    let testDescription: String
    let rule: AdmissionRule
    let steps: [AdmissionStep]

    init(_ testDescription: String, _ rule: AdmissionRule, _ steps: AdmissionStep...) {
        self.testDescription = testDescription
        self.rule = rule
        self.steps = steps
    }

    static let all = [
        // One
        AdmissionScript(
            "one call runs and the next is ignored", .only,
            .submit(.withBegin, .start), .submit(.withBegin, .start), .start(1, .deliverCancellation(.ignored)),
            .start(0, .proceed)),
        AdmissionScript(
            "the place of one is free once the end is decided", .only,
            .submit(.withoutBegin, .started), .commit(0, .proceed), .isOpen(0, false), .submit(.withoutBegin, .started),
            .finish(0, next: nil), .submit(.withoutBegin, .start), .start(2, .deliverCancellation(.ignored))),
        AdmissionScript(
            "the place of one is free once its call is cancelled", .only,
            .submit(.withBegin, .start), .cancel(0, .cancelTask(0)), .submit(.withoutBegin, .started)),
        AdmissionScript(
            "a rejected call takes no place", .only,
            .submit(.rejected(.cancelled), .start), .submit(.withoutBegin, .started),
            .start(0, .deliverCancellation(.cancelled))),

        // Line
        AdmissionScript(
            "the next call leaves the line when one has finished, not at its commit",
            .queue(width: 1, limit: .max),
            .submit(.withoutBegin, .started), .submit(.withoutBegin, .wait), .submit(.withoutBegin, .wait),
            .waitingCount(2), .commit(0, .proceed), .isWaiting(1, true), .finish(0, next: 1), .isWaiting(1, false),
            .isWaiting(2, true), .waitingCount(1)),
        AdmissionScript(
            "a call leaves the line only after the one before it has started",
            .queue(width: 2, limit: .max),
            .submit(.withoutBegin, .started), .submit(.withoutBegin, .started), .submit(.withBegin, .wait),
            .submit(.withBegin, .wait), .cancel(1, .deliver(1, .cancelled)), .finish(1, next: 2),
            .cancel(0, .deliver(0, .cancelled)), .finish(0, next: nil), .start(2, .proceed),
            .noteStart(2, next: 3), .noteStart(2, next: nil)),
        AdmissionScript(
            "a new call waits while the one before it has not started", .queue(width: 2, limit: .max),
            .submit(.withoutBegin, .started), .submit(.withoutBegin, .started), .submit(.withBegin, .wait),
            .commit(0, .proceed), .finish(0, next: 2), .commit(1, .proceed), .finish(1, next: nil),
            .submit(.withoutBegin, .wait), .start(2, .proceed), .noteStart(2, next: 3)),
        AdmissionScript(
            "a starting call that is cancelled does not block the line", .queue(width: 2, limit: .max),
            .submit(.withoutBegin, .started), .submit(.withoutBegin, .started), .submit(.withBegin, .wait),
            .submit(.withBegin, .wait), .commit(0, .proceed), .finish(0, next: 2), .commit(1, .proceed),
            .finish(1, next: nil), .cancel(2, .cancelTask(2)), .start(2, .deliverCancellation(.cancelled)),
            .finish(2, next: 3)),
        AdmissionScript(
            "a call that is cancelled in line is resumed, and the order stays",
            .queue(width: 1, limit: .max),
            .submit(.withoutBegin, .started), .submit(.withoutBegin, .wait), .submit(.withoutBegin, .wait),
            .submit(.withoutBegin, .wait), .submit(.withoutBegin, .wait), .cancel(2, .resume(2)),
            .cancel(1, .resume(1)),
            .cancel(4, .resume(4)), .start(1, .deliverCancellation(.cancelled)), .finish(1, next: nil),
            .cancel(0, .deliver(0, .cancelled)), .finish(0, next: 3)),
        AdmissionScript(
            "a line ignores calls beyond its limit until a place is free", .queue(width: 1, limit: 1),
            .submit(.withoutBegin, .started), .submit(.withoutBegin, .wait), .submit(.withoutBegin, .start),
            .start(2, .deliverCancellation(.ignored)), .cancel(1, .resume(1)), .submit(.withoutBegin, .wait)),
        AdmissionScript(
            "a call whose end is decided does not count against the limit", .queue(width: 1, limit: 0),
            .submit(.withoutBegin, .started), .submit(.withoutBegin, .start), .start(1, .deliverCancellation(.ignored)),
            .commit(0, .proceed), .submit(.withoutBegin, .wait), .submit(.withoutBegin, .start),
            .start(3, .deliverCancellation(.ignored)), .finish(0, next: 2)),

        // Newest
        AdmissionScript(
            "a newer call supersedes the one before when it is admitted", .latest(debounces: false),
            .submit(.withoutBegin, .started), .beginDelivery(0, .proceed),
            .submit(.withoutBegin, .started, superseding: .cancelTask(0)),
            .commit(0, .deliverCancellation(.superseded)),
            .submit(.withoutBegin, .started, superseding: .deliver(1, .superseded)), .commit(1, .stop),
            .commit(2, .proceed), .submit(.withoutBegin, .started)),
        AdmissionScript(
            "a call in its debounce interval is superseded before it starts", .latest(debounces: true),
            .submit(.withBegin, .debounce), .submit(.withBegin, .debounce, superseding: .resume(0)), .endDebounce(0),
            .start(0, .deliverCancellation(.superseded)), .endDebounce(1), .start(1, .proceed)),

        // Held
        AdmissionScript(
            "a held call has no place until it is admitted", .only,
            .submit(.held, .wait), .isHeld(0, true), .submit(.withoutBegin, .started), .admit(0, .start),
            .isHeld(0, false), .start(0, .deliverCancellation(.ignored))),
        AdmissionScript(
            "a held call supersedes when it is admitted", .latest(debounces: false),
            .submit(.held, .wait), .submit(.withoutBegin, .started),
            .admit(0, .start, superseding: .deliver(1, .superseded))),
        AdmissionScript(
            "a held call that is cancelled takes no place", .queue(width: 1, limit: .max),
            .submit(.held, .wait), .cancel(0, .resume(0)), .isHeld(0, false), .admit(0, .start),
            .submit(.withoutBegin, .started), .start(0, .deliverCancellation(.cancelled)), .finish(0, next: nil)),

        // All
        AdmissionScript(
            "cancelling all reaches every call once, oldest first", .queue(width: 2, limit: .max),
            .submit(.withoutBegin, .started), .submit(.withBegin, .start), .submit(.withoutBegin, .wait),
            .submit(.held, .wait),
            .cancelAll([.deliver(0, .cancelled), .cancelTask(1), .resume(2), .resume(3)]), .cancelAll([]),
            .waitingCount(0)),
        AdmissionScript(
            "the ID of a finished call matches nothing", .default,
            .submit(.withoutBegin, .started), .commit(0, .proceed), .finish(0, next: nil), .isEmpty(true),
            .submit(.withoutBegin, .started), .start(0, nil), .cancel(0, nil), .finish(0, next: nil), .endDebounce(0),
            .isOpen(0, false), .isOpen(1, true), .isEmpty(false)),
    ]
}
