import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

struct LaneSchedulerTests {
    /// The stage in which a call is cancelled.
    enum Stage: CaseIterable {
        case held, waiting, debouncing, starting, delivering, running, ended

        var rule: AdmissionRule {
            switch self {
            case .waiting: .queue(width: 1, limit: .max)
            case .debouncing: .latest(debounces: true)
            default: .default
            }
        }

        var effects: [RecordingCall.Event] {
            switch self {
            case .held, .waiting, .debouncing: [.cancelTask, .resume]
            case .starting, .delivering: [.cancelTask]
            case .running: [.cancelTask, .deliver(.cancelled, onMainActor: false)]
            case .ended: []
            }
        }
    }

    @Test(arguments: Stage.allCases)
    func `a second cancel of a call has no effect in any stage`(stage: Stage) {
        let (scheduler, call) = (LaneScheduler(stage.rule), RecordingCall())
        if stage == .waiting { scheduler.submit() }
        let kinds: [Stage: SubmissionKind] = [.held: .held, .starting: .withBegin, .delivering: .withBegin]
        let id = scheduler.submit(call, kinds[stage] ?? .withoutBegin)
        if stage == .delivering { _ = scheduler.start(id, hasBeginHandler: true) }
        if stage == .ended { _ = scheduler.commit(id) }

        let wasOpen = scheduler.cancel(id, .cancelled, isolation: nil)
        scheduler.cancel(id, .cancelled, isolation: nil)

        #expect(wasOpen == (stage != .ended))
        #expect(call.events == stage.effects)
    }

    @Test @MainActor func `a cancellation is delivered on the canceller's actor`() {
        let scheduler = LaneScheduler(.latest(debounces: false))
        let calls = (0..<3).map { _ in RecordingCall() }

        _ = scheduler.submit(.withoutBegin, isolation: #isolation) { _ in calls[0] }
        _ = scheduler.submit(.withoutBegin, isolation: #isolation) { _ in calls[1] }
        LaneScheduler.cancelAll(of: [scheduler], isolation: #isolation)
        _ = scheduler.submit(.withoutBegin, isolation: #isolation) { _ in calls[2] }
        scheduler.release()

        #expect(
            calls.map(\.events.last) == [
                .deliver(.superseded, onMainActor: true), .deliver(.cancelled, onMainActor: true),
                .deliver(.released, onMainActor: false),
            ])
    }

    @Test func `each start resumes the next call of a line, and a postponed start does too`() {
        let scheduler = LaneScheduler(.queue(width: 3, limit: .max))
        let running = (0..<3).map { _ in scheduler.submit() }
        let waiting = (0..<3).map { _ in RecordingCall() }
        let ids = waiting.map { scheduler.submit($0, .withBegin) }
        var resumed: [Int] = []

        for id in running {
            _ = scheduler.commit(id)
            scheduler.finish(id)
        }
        resumed.append(waiting.count { $0.events == [.resume] })
        _ = scheduler.start(ids[0], hasBeginHandler: true)
        resumed.append(waiting.count { $0.events == [.resume] })
        scheduler.postponeStart(ids[1])
        resumed.append(waiting.count { $0.events == [.resume] })

        #expect(resumed == [1, 2, 3])
    }

    @Test func `cancelling all lanes reaches the oldest call of each lane first`() {
        let order = Observed<[Int]>([])
        let lanes = (0..<2).map { _ in LaneScheduler(.queue(width: 2, limit: .max)) }
        for index in 0..<10 {
            lanes[index / 5].submit(RecordingCall { if $0 == .cancelTask { order.change { $0.append(index) } } })
        }

        LaneScheduler.cancelAll(of: lanes, isolation: nil)

        #expect(order.value == Array(0..<10))
    }

    @Test func `cancelling all lanes spares calls made by cancelled calls`() {
        let lanes = (0..<3).map { _ in LaneScheduler(.default) }
        let made = RecordingCall()
        for lane in lanes {
            lane.submit(
                RecordingCall { event in
                    guard case .deliver = event else { return }
                    for lane in lanes { lane.submit(made) }
                })
        }

        LaneScheduler.cancelAll(of: lanes, isolation: nil)

        #expect(made.events == [])
    }

    /// Events that make a scheduler act on a call.
    enum Cause: CaseIterable {
        case cancel, cancelAll, release, finish, submit, admit
    }

    // A call under the lock would never return: the lock isn't recursive.
    @Test(arguments: Cause.allCases)
    func `a call may use its scheduler in each reaction`(cause: Cause) {
        let supersedes = cause == .submit || cause == .admit
        let scheduler = LaneScheduler(supersedes ? .latest(debounces: false) : .queue(width: 1, limit: .max))
        let reactions = Observed(0)
        let call = RecordingCall { _ in
            reactions.change { $0 += 1 }
            let id = scheduler.submit(RecordingCall(), .withBegin)
            _ = (scheduler.isWaiting(id), scheduler.isHeld(id), scheduler.waitingCount)
            _ = scheduler.admit(id, isolation: nil)
            scheduler.endDebounce(id)
            LaneScheduler.cancelAll(of: [scheduler], isolation: nil)
            scheduler.cancel(id, .cancelled, isolation: nil)
            _ = scheduler.start(id, hasBeginHandler: true)
            scheduler.finish(id)
            scheduler.release()
        }
        let held = cause == .admit ? scheduler.submit(RecordingCall(), .held) : nil
        let first = supersedes ? nil : scheduler.submit()
        let id = scheduler.submit(call)

        switch cause {
        case .cancel: scheduler.cancel(id, .cancelled, isolation: nil)
        case .cancelAll: LaneScheduler.cancelAll(of: [scheduler], isolation: nil)
        case .release: scheduler.release()
        case .finish: scheduler.finish(first!)
        case .submit: scheduler.submit()
        case .admit: _ = scheduler.admit(held!, isolation: nil)
        }

        #expect(reactions.value >= 1)
    }

    @Test func `a superseded call that calls again supersedes the call that superseded it`() {
        let scheduler = LaneScheduler(.latest(debounces: false))
        let (middle, newest) = (RecordingCall(), RecordingCall())
        scheduler.submit(RecordingCall { if case .deliver = $0 { scheduler.submit(newest) } })

        let id = scheduler.submit(middle)

        #expect(middle.events == [.cancelTask, .deliver(.superseded, onMainActor: false)])
        #expect(newest.events == [])
        #expect(scheduler.commit(id) == .stop)
    }

    @Test func `a scheduler holds a call until it has finished`() {
        let scheduler = LaneScheduler(.default)
        weak var held: RecordingCall?
        let id: CallID = {
            let call = RecordingCall()
            held = call
            return scheduler.submit(call)
        }()

        scheduler.cancel(id, .cancelled, isolation: nil)
        #expect(held != nil)
        scheduler.finish(id)
        #expect(held == nil)
    }
}
