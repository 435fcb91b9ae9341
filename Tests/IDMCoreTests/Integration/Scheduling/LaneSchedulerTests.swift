import IDMTesting
import Synchronization
import TestSupport
import Testing

@testable import IDMCore

@Suite(.timeLimit(.ample))
struct GateTests {
    // MARK: What is asked of a call

    @Test func `a call whose provider is at work is stopped, and its end is told by the canceller`() {
        let gate = LaneScheduler(.all)
        let guest = GuestMember()
        let (ticket, entrance) = gate.enter(guest, .unheard, isolation: nil)
        #expect(entrance == .begun)
        gate.cancel(ticket, .cancelled, isolation: nil)
        gate.cancel(ticket, .cancelled, isolation: nil)
        #expect(guest.events == [.stop, .takeOver(.cancelled, onMainActor: false)])
    }

    @Test @MainActor func `whoever takes over does so on the actor of the canceller`() {
        let gate = LaneScheduler(.newest(settles: false))
        let guests = (0..<3).map { _ in GuestMember() }
        _ = gate.enter(guests[0], .unheard, isolation: #isolation)
        _ = gate.enter(guests[1], .unheard, isolation: #isolation)
        gate.cancelAll(.cancelled, isolation: #isolation)
        _ = gate.enter(guests[2], .unheard, isolation: #isolation)
        gate.release()
        #expect(guests[0].events == [.stop, .takeOver(.superseded, onMainActor: true)])
        #expect(guests[1].events == [.stop, .takeOver(.cancelled, onMainActor: true)])
        #expect(guests[2].events == [.stop, .takeOver(.released, onMainActor: false)])
    }

    @Test func `a call that speaks is only stopped`() {
        let gate = LaneScheduler(.all)
        let guest = GuestMember()
        let (ticket, _) = gate.enter(guest, .heard, isolation: nil)
        #expect(gate.voice(ticket) { $0.begin() } == .proceed)
        gate.cancel(ticket, .cancelled, isolation: nil)
        #expect(guest.events == [.stop])
        #expect(gate.voice(ticket) { $0.ask() } == .cancelled(.cancelled))
    }

    @Test(arguments: [AdmissionRule.newest(settles: true), .line(width: 1, limit: .max)])
    func `a call that waits is stopped before it is woken`(rule: AdmissionRule) {
        let gate = LaneScheduler(rule)
        _ = gate.enter(GuestMember(), .unheard, isolation: nil)
        let guest = GuestMember()
        let (ticket, entrance) = gate.enter(guest, .unheard, isolation: nil)
        #expect(entrance == .wait || entrance == .settle)
        gate.cancel(ticket, .cancelled, isolation: nil)
        #expect(guest.events == [.stop, .wake])
    }

    @Test func `a finish wakes the next call in line and no other`() {
        let gate = LaneScheduler(.line(width: 1, limit: .max))
        let guests = (0..<3).map { _ in GuestMember() }
        let tickets = guests.map { gate.enter($0, .unheard, isolation: nil).ticket }
        #expect(gate.voice(tickets[0]) { $0.commit(isFinal: true) } == .proceed)
        #expect(guests[1].events.isEmpty)
        gate.finish(tickets[0])
        #expect(guests.map(\.events) == [[], [.wake], []])
        gate.finish(tickets[0])
        #expect(guests.map(\.events) == [[], [.wake], []])
    }

    @Test func `a call that nobody hears is let go in the moment in which it commits`() {
        let gate = LaneScheduler(.line(width: 1, limit: .max))
        let (first, second) = (GuestMember(), GuestMember())
        let ticket = gate.enter(first, .unheard, isolation: nil).ticket
        let waiting = gate.enter(second, .unheard, isolation: nil).ticket
        #expect(gate.isWaiting(waiting))
        #expect(gate.end(ticket) == .proceed)
        #expect(second.events == [.wake])
        #expect(!gate.isWaiting(waiting))
        #expect(gate.end(ticket) == nil)
        #expect(second.events == [.wake])
    }

    @Test func `a call that nobody hears and that was cancelled isn't let go by its late answer`() {
        let gate = LaneScheduler(.line(width: 1, limit: .max))
        let second = GuestMember()
        let ticket = gate.enter(GuestMember(), .unheard, isolation: nil).ticket
        _ = gate.enter(second, .unheard, isolation: nil)
        gate.cancel(ticket, .cancelled, isolation: nil)
        #expect(gate.end(ticket) == .over)
        #expect(second.events.isEmpty)
        gate.finish(ticket)
        #expect(second.events == [.wake])
    }

    @Test func `a call that is admitted after another displaces those before it`() {
        let gate = LaneScheduler(.newest(settles: false))
        let running = GuestMember()
        let ticket = gate.enter(GuestMember(), .held, isolation: nil).ticket
        _ = gate.enter(running, .unheard, isolation: nil)
        #expect(gate.isHeld(ticket))
        #expect(running.events.isEmpty)
        #expect(gate.admit(ticket, isolation: nil) == .start)
        #expect(!gate.isHeld(ticket))
        #expect(running.events == [.stop, .takeOver(.superseded, onMainActor: false)])
    }

    @Test func `a call that waits for the quiet starts after it`() {
        let gate = LaneScheduler(.newest(settles: true))
        let guest = GuestMember()
        let (ticket, entrance) = gate.enter(guest, .heard, isolation: nil)
        #expect(entrance == .settle)
        gate.settled(ticket)
        #expect(gate.voice(ticket) { $0.begin() } == .proceed)
        gate.cancel(ticket, .cancelled, isolation: nil)
        #expect(guest.events == [.stop])
    }

    @Test func `cancelling all reaches the oldest first`() {
        let order = Mutex<[Int]>([])
        let gate = LaneScheduler(.line(width: 2, limit: .max))
        let guests = (0..<5).map { index in
            GuestMember { event in if event == .stop { order.withLock { $0.append(index) } } }
        }
        for guest in guests { _ = gate.enter(guest, .unheard, isolation: nil) }
        gate.cancelAll(.cancelled, isolation: nil)
        #expect(order.withLock { $0 } == [0, 1, 2, 3, 4])
        #expect(guests.map(\.events.count) == [2, 2, 2, 2, 2])
    }

    // MARK: Nothing under the lock

    /// Ways to make a gate do something about a call.
    enum Cause: CaseIterable {
        case cancel, cancelAll, release, finish, end, enter, admit
    }

    /// If the gate called under its lock, this would never come back: the lock isn't recursive.
    @Test(arguments: Cause.allCases)
    func `a call may use the gate in whatever way when the gate asks something of it`(cause: Cause) {
        let displaces = cause == .enter || cause == .admit
        let gate = LaneScheduler(displaces ? .newest(settles: false) : .line(width: 1, limit: .max))
        let reactions = Mutex(0)
        let made = Mutex<[CallID]>([])
        let guest = GuestMember { _ in
            reactions.withLock { $0 += 1 }
            let ticket = gate.enter(GuestMember(), .heard, isolation: nil).ticket
            made.withLock { $0.append(ticket) }
            _ = gate.isWaiting(ticket)
            _ = gate.isHeld(ticket)
            _ = gate.voice(ticket) { $0.isEnding }
            _ = gate.admit(ticket, isolation: nil)
            gate.settled(ticket)
            gate.cancelAll(.cancelled, isolation: nil)
            gate.cancel(ticket, .cancelled, isolation: nil)
            _ = gate.end(ticket)
            gate.finish(ticket)
            gate.release()
        }
        let held = cause == .admit ? gate.enter(GuestMember(), .held, isolation: nil).ticket : nil
        let first = displaces ? nil : gate.enter(GuestMember(), .unheard, isolation: nil).ticket
        let ticket = gate.enter(guest, .unheard, isolation: nil).ticket

        switch cause {
        case .cancel: gate.cancel(ticket, .cancelled, isolation: nil)
        case .cancelAll: gate.cancelAll(.cancelled, isolation: nil)
        case .release: gate.release()
        case .finish:
            #expect(gate.voice(first!) { $0.commit(isFinal: true) } == .proceed)
            gate.finish(first!)
        case .end: #expect(gate.end(first!) == .proceed)
        case .enter: _ = gate.enter(GuestMember(), .unheard, isolation: nil)
        case .admit: _ = gate.admit(held!, isolation: nil)
        }

        #expect(reactions.withLock { $0 } >= 1)
        #expect(gate.voice(ticket) { $0.isEnding } != nil)
        #expect(made.withLock { $0 }.allSatisfy { made in gate.voice(made) { $0.isEnding } == nil })
    }

    @Test func `a newer call made by the one that is displaced displaces the one that displaced it`() {
        let gate = LaneScheduler(.newest(settles: false))
        let newest = GuestMember()
        let middle = GuestMember()
        let oldest = GuestMember { event in
            if case .takeOver = event { #expect(gate.enter(newest, .unheard, isolation: nil).entrance == .begun) }
        }
        _ = gate.enter(oldest, .unheard, isolation: nil)
        let (ticket, entrance) = gate.enter(middle, .unheard, isolation: nil)
        // By the time its task is made, the call is over.
        #expect(entrance == .begun)
        #expect(middle.events == [.stop, .takeOver(.superseded, onMainActor: false)])
        #expect(gate.end(ticket) == .over)
        #expect(newest.events.isEmpty)
    }

    // MARK: Memory

    @Test func `a gate holds a call until it is let go`() {
        let gate = LaneScheduler(.line(width: 1, limit: .max))
        weak var guest: GuestMember?
        let ticket: CallID = {
            let member = GuestMember()
            guest = member
            return gate.enter(member, .unheard, isolation: nil).ticket
        }()
        #expect(guest != nil)
        gate.cancel(ticket, .cancelled, isolation: nil)
        #expect(guest != nil)
        gate.finish(ticket)
        #expect(guest == nil)
    }
}
