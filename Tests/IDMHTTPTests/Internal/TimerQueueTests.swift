import Dispatch
import Foundation
import IDMCore
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("TimerQueue", .timeLimit(.ample))
struct TimerQueueTests {
    @Test("timers fire in the order of their times unless cancelled", arguments: 0..<20 as Range<UInt64>)
    func order(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var book = Heap<Int, Int>()
        var times: [Int: Int] = [:]
        var now = 0
        for _ in 0..<500 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1:
                let time = now + Int.random(in: 0..<50, using: &random)
                let id = book.insert(time, at: time)
                times[id] = time
            case 2, 3:
                guard let id = times.keys.sorted().randomElement(using: &random) else { continue }
                times[id] = nil
                book.remove(id)
                book.remove(id)
            default:
                now += Int.random(in: 0..<10, using: &random)
                let due = times.values.filter { $0 <= now }.sorted()
                times = times.filter { $0.value > now }
                #expect(book.removeAll(upTo: now) == due)
            }
            #expect(book.first()?.order == times.values.min() && book.counts.elements == times.count)
            #expect(book.counts.places <= 2 * times.count + 32)
        }
    }

    @Test("system timers fire in time unless cancelled")
    func shared() async throws {
        func happen(by clock: some Clock<Duration>) async throws {
            let log = Log()
            let start = clock.now
            #expect(clock.sharesTimers)
            let tooSoon = start.advanced(by: .milliseconds(100))
            clock.timer(at: tooSoon) { log.add("given up") }.cancel()
            // On a busy machine its time may have come before.
            let wasInTime = clock.now < tooSoon
            for milliseconds in [300, 200, -1_000] {
                let time = start.advanced(by: .milliseconds(milliseconds))
                _ = clock.timer(at: time) { log.add(clock.now < time ? "too soon" : "\(milliseconds)") }
            }
            // In any order: of two tasks that take what is due either may be held up.
            let expected: Set = ["300", "200", "-1000"]
            try await log.contains { $0.count { $0 != "given up" } == expected.count }
            let entries = log.entries
            #expect(Set(entries).subtracting(["given up"]) == expected)
            #expect(!wasInTime || !entries.contains("given up"))
        }
        try await happen(by: ContinuousClock())
        try await happen(by: SuspendingClock())
    }

    @Test("timers of a manual clock have a task each")
    func manual() async throws {
        try await TestScope.run {
            let (clock, log) = (ManualClock(), Log())
            let alarm = clock.timer(at: clock.now.advanced(by: .seconds(2))) { log.add("given up") }
            _ = clock.timer(at: clock.now.advanced(by: .seconds(1))) { log.add("done") }
            #expect(!clock.sharesTimers)
            alarm.cancel()
            await clock.advance(by: .seconds(3))
            #expect(log.entries == ["done"])
        }
    }

    /// A clock at which something happens as somebody asks it for the time.
    private struct Interrupted: Clock {
        let clock = ManualClock()
        let interruption = Observed<(@Sendable () -> Void)?>(nil)

        var now: ManualClock.Instant {
            interruption.change { $0.take() }?()
            return clock.now
        }

        var minimumResolution: Duration { clock.minimumResolution }

        func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
            try await clock.sleep(until: deadline, tolerance: tolerance)
        }
    }

    @Test("activity during the check resets an idle timer")
    func heardAsItRings() async throws {
        try await TestScope.run {
            let (time, log) = (Interrupted(), Log())
            let limit = Timeout(time).limit(.seconds(60)) { log.addSilence() }
            await time.clock.advance(by: .seconds(59))
            time.interruption.change { $0 = { limit.noteActivity() } }
            await time.clock.advance(by: .seconds(60))
            #expect(log.entries == [] && time.clock.remaining == [.seconds(1)])
            await time.clock.advance(by: .seconds(1))
            #expect(log.entries == ["silence"])
        }
    }

    @Test(
        "a resume without notification resets an idle timer",
        arguments: [false, true])
    func resumedUntold(isDuringResume: Bool) async throws {
        try await TestScope.run {
            let (time, log, control, isHeld) = (Interrupted(), Log(), PauseControl(), Observed(false))
            let (isTold, isOver, goesOn) = (Signal(), Signal(), DispatchSemaphore(value: 0))
            control.pause()
            // Is told before the alarm is.
            let observation = control.observe {
                guard isHeld.value else { return }
                isTold.open()
                goesOn.wait()
            }
            let limit = Timeout(time).limit(.seconds(60), control: control) { log.addSilence() }
            if isDuringResume {
                // The alarm asks for the time as it hears of the resume.
                time.interruption.change { $0 = { control.pause() } }
                control.resume()
            }
            #expect(control.isPaused)
            isHeld.change { $0 = true }
            Thread.detachNewThread {
                control.resume()
                isOver.open()
            }
            try await isTold.wait()
            await time.clock.advance(by: .seconds(60))
            #expect(log.entries == [] && time.clock.remaining == [.seconds(60)])
            goesOn.signal()
            try await isOver.wait()
            await time.clock.advance(by: .seconds(60))
            #expect(log.entries == ["silence"])
            limit.cancel()
            withExtendedLifetime(observation) {}
        }
    }

    @Test("a resume during the check resets an idle timer")
    func resumedAsItRings() async throws {
        try await TestScope.run {
            let (time, log, control) = (Interrupted(), Log(), PauseControl())
            let limit = Timeout(time).limit(.seconds(60), control: control) { log.addSilence() }
            await time.clock.advance(by: .seconds(59))
            control.pause()
            time.interruption.change { $0 = { control.resume() } }
            await time.clock.advance(by: .seconds(10))
            // Now, if nobody has looked.
            control.resume()
            #expect(log.entries == [] && !control.isPaused)
            await time.clock.advance(by: .seconds(49))
            #expect(log.entries == [])
            await time.clock.advance(by: .seconds(11))
            #expect(log.entries == ["silence"])
            limit.cancel()
        }
    }

    @Test("activity delays an idle timer until it is cancelled")
    func silence() async throws {
        let clock = ContinuousClock()
        let log = Log()
        let start = clock.now
        let (wasLate, silence) = (Observed(false), Observed<Duration?>(nil))
        let timeout = Timeout(clock)
        let limit = timeout.limit(.milliseconds(400)) {
            silence.change { $0 = start.duration(to: clock.now) }
            return log.addSilence()
        }
        for time in [150, 300] {
            _ = clock.timer(at: start.advanced(by: .milliseconds(time))) {
                limit.noteActivity()
                // On a busy machine it may come when the silence has been long enough.
                if start.duration(to: clock.now) >= .milliseconds(400) { wasLate.change { $0 = true } }
                log.add("\(time)")
            }
        }
        try await log.count(reaches: 3)
        #expect(Set(log.entries) == ["150", "300", "silence"])
        // By its own time, not by its place in the log: a thread may be held up before it adds what it has done.
        #expect(try wasLate.value || #require(silence.value) >= .milliseconds(700))
        let next = clock.now.advanced(by: .milliseconds(400))
        timeout.limit(.milliseconds(400)) {
            log.add("another")
            return false
        }.cancel()
        let wasInTime = clock.now < next
        _ = clock.timer(at: clock.now.advanced(by: .milliseconds(600))) { log.add("end") }
        try await log.contains("end")
        #expect(!wasInTime || !log.entries.contains("another"))
    }
}

extension Log {
    fileprivate func addSilence() -> Bool {
        add("silence")
        return false
    }
}
