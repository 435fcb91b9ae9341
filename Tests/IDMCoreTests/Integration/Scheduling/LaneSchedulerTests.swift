import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

struct LaneSchedulerTests {
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
}
