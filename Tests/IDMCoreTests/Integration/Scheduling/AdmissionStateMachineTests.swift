import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

/// Each rule by example. ``AdmissionExplorationTests`` walks through all the rest.
@Suite(.timeLimit(.ample))
struct AdmissionTests {
    // MARK: One

    @Test func `one lets a call in and ignores the next`() {
        var probe = AdmissionProbe(.one)
        #expect(probe.submit(0, .heard).entrance == .start)
        #expect(probe.submit(1, .heard).entrance == .start)
        #expect(probe.voice(1) { $0.begin() } == .cancelled(.ignored))
        #expect(probe.voice(0) { $0.begin() } == .proceed)
    }

    @Test func `one has its place free as soon as the end is decided, before the last handlers`() {
        var probe = AdmissionProbe(.one)
        #expect(probe.submit(0, .unheard).entrance == .begun)
        #expect(probe.voice(0) { $0.commit(isFinal: true) } == .proceed)
        #expect(probe.submit(1, .unheard).entrance == .begun)
        #expect(probe.finish(0) == nil)
        #expect(probe.submit(2, .unheard).entrance == .start)
        #expect(probe.voice(2) { $0.beginAndAsk() } == .cancelled(.ignored))
    }

    @Test func `one has its place free as soon as its call is cancelled`() {
        var probe = AdmissionProbe(.one)
        _ = probe.submit(0, .heard)
        #expect(probe.cancel(0, .cancelled) == .stop(0))
        #expect(probe.submit(1, .unheard).entrance == .begun)
    }

    // MARK: Line

    @Test func `a line starts the next call when one has finished, and not when its end is decided`() {
        var probe = AdmissionProbe(.line(width: 1, limit: .max))
        #expect(probe.submit(0, .unheard).entrance == .begun)
        #expect(probe.submit(1, .unheard).entrance == .wait)
        #expect(probe.submit(2, .unheard).entrance == .wait)
        #expect(probe.voice(0) { $0.commit(isFinal: true) } == .proceed)
        #expect(probe.isWaiting(1))
        #expect(probe.finish(0) == 1)
        #expect(!probe.isWaiting(1) && probe.isWaiting(2))
    }

    @Test func `a call that is cancelled in line is woken to tell, and the others keep their order`() {
        var probe = AdmissionProbe(.line(width: 1, limit: .max))
        for call in 0..<5 { _ = probe.submit(call, .unheard) }
        #expect(probe.cancel(2, .cancelled) == .wake(2))
        #expect(probe.cancel(1, .cancelled) == .wake(1))
        #expect(probe.cancel(4, .cancelled) == .wake(4))
        #expect(probe.voice(1) { $0.beginAndAsk() } == .cancelled(.cancelled))
        #expect(probe.finish(1) == nil)
        #expect(probe.cancel(0, .cancelled) == .takeOver(0, .cancelled))
        #expect(probe.finish(0) == 3)
    }

    @Test func `a line ignores calls past its limit, and takes them again when there is room`() {
        var probe = AdmissionProbe(.line(width: 1, limit: 1))
        #expect(probe.submit(0, .unheard).entrance == .begun)
        #expect(probe.submit(1, .unheard).entrance == .wait)
        #expect(probe.submit(2, .unheard).entrance == .start)
        #expect(probe.voice(2) { $0.beginAndAsk() } == .cancelled(.ignored))
        #expect(probe.cancel(1, .cancelled) == .wake(1))
        #expect(probe.submit(3, .unheard).entrance == .wait)
        #expect(probe.finish(2) == nil)
    }

    @Test func `ten thousand calls go through a line in the order in which they came, whichever are cancelled`() {
        var probe = AdmissionProbe(.line(width: 1, limit: .max))
        let calls = 0..<10_000
        for call in calls { _ = probe.submit(call, .unheard) }
        for call in calls.dropFirst() where call % 3 == 0 { #expect(probe.cancel(call, .cancelled) == .wake(call)) }
        var order = [0]
        while let next = probe.finish(order.last!) { order.append(next) }
        #expect(order == calls.filter { $0 == 0 || $0 % 3 != 0 })
        for call in calls.dropFirst() where call % 3 == 0 { #expect(probe.finish(call) == nil) }
        #expect(probe.isEmpty)
    }

    // MARK: Newest

    @Test func `a newer call supersedes the one before in the moment in which it is admitted`() {
        var probe = AdmissionProbe(.newest(settles: false))
        #expect(probe.submit(0, .unheard).displaced == nil)
        #expect(probe.voice(0) { $0.speak() } == .proceed)
        #expect(probe.submit(1, .unheard).displaced == .stop(0))
        #expect(probe.voice(0) { $0.commit(isFinal: true) } == .cancelled(.superseded))
        #expect(probe.submit(2, .unheard).displaced == .takeOver(1, .superseded))
        #expect(probe.voice(1) { $0.commit(isFinal: true) } == .over)
        #expect(probe.voice(2) { $0.commit(isFinal: true) } == .proceed)
        #expect(probe.submit(3, .unheard).displaced == nil)
    }

    @Test func `a call that waits for the quiet is superseded before it starts`() {
        var probe = AdmissionProbe(.newest(settles: true))
        #expect(probe.submit(0, .heard).entrance == .settle)
        #expect(probe.submit(1, .heard).displaced == .wake(0))
        probe.settled(0)
        #expect(probe.voice(0) { $0.begin() } == .cancelled(.superseded))
        probe.settled(1)
        #expect(probe.voice(1) { $0.begin() } == .proceed)
    }

    // MARK: Held

    @Test func `a call that is held has no place until it is admitted`() {
        var probe = AdmissionProbe(.one)
        #expect(probe.submit(0, .held).entrance == .wait)
        #expect(probe.isHeld(0))
        #expect(probe.submit(1, .unheard).entrance == .begun)
        #expect(probe.admit(0).entrance == .start)
        #expect(!probe.isHeld(0))
        #expect(probe.voice(0) { $0.begin() } == .cancelled(.ignored))
    }

    @Test func `a call that is cancelled while it is held takes no place when its turn comes`() {
        var probe = AdmissionProbe(.line(width: 1, limit: .max))
        _ = probe.submit(0, .held)
        #expect(probe.cancel(0, .cancelled) == .wake(0))
        #expect(!probe.isHeld(0))
        #expect(probe.admit(0).entrance == .start)
        #expect(probe.submit(1, .unheard).entrance == .begun)
        #expect(probe.voice(0) { $0.begin() } == .cancelled(.cancelled))
        #expect(probe.finish(0) == nil)
    }

    @Test func `a call that would be held after a release has nothing to wait for`() {
        var probe = AdmissionProbe(.all)
        #expect(probe.release().isEmpty)
        _ = probe.submit(0, .held)
        #expect(!probe.isHeld(0))
        #expect(probe.admit(0).entrance == .start)
        #expect(probe.voice(0) { $0.begin() } == .cancelled(.released))
    }

    // MARK: All at once

    @Test func `cancelling all reaches every call, oldest first`() {
        var probe = AdmissionProbe(.line(width: 2, limit: .max))
        _ = probe.submit(0, .unheard)
        _ = probe.submit(1, .heard)
        _ = probe.submit(2, .unheard)
        _ = probe.submit(3, .held)
        #expect(probe.cancelAll(.cancelled) == [.takeOver(0, .cancelled), .stop(1), .wake(2), .wake(3)])
        #expect(probe.cancelAll(.cancelled) == [])
        #expect(!probe.isWaiting(2) && !probe.isHeld(3))
    }

    @Test(arguments: AdmissionExplorationTests.rules)
    func `a release ends every call and turns away those that come after it`(rule: AdmissionRule) {
        var probe = AdmissionProbe(rule)
        _ = probe.submit(0, .heard)
        #expect(probe.release().count == 1)
        for call in 1...3 {
            #expect(probe.submit(call, .unheard).entrance == .start)
            #expect(probe.voice(call) { $0.beginAndAsk() } == .cancelled(.released))
        }
        #expect(probe.voice(0) { $0.begin() } == .cancelled(.released))
        for call in 0...3 { #expect(probe.finish(call) == nil) }
        #expect(probe.isEmpty)
    }

    @Test func `the ticket of a call that has ended names nothing`() {
        var probe = AdmissionProbe(.all)
        _ = probe.submit(0, .unheard)
        #expect(probe.voice(0) { $0.commit(isFinal: true) } == .proceed)
        #expect(probe.finish(0) == nil)
        _ = probe.submit(1, .unheard)
        #expect(probe.voice(0) { $0.isEnding } == nil)
        #expect(probe.cancel(0, .cancelled) == nil)
        #expect(probe.finish(0) == nil)
        probe.settled(0)
        #expect(!probe.isEmpty)
        #expect(probe.voice(1) { $0.isEnding } == false)
    }
}
