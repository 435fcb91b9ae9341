import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

/// What each event does in each state. ``VoiceExplorationTests`` walks through what follows from that.
@Suite(.timeLimit(.ample))
struct VoiceTests {
    private static let half = IntegrationProgress(fraction: 0.5)
    private static let most = IntegrationProgress(fraction: 0.75)

    // MARK: States, by the shortest way there

    private static func speaking() -> DeliveryStateMachine {
        var voice = DeliveryStateMachine()
        #expect(voice.begin() == .proceed)
        return voice
    }

    private static func asking() -> DeliveryStateMachine {
        var voice = DeliveryStateMachine()
        #expect(voice.beginAndAsk() == .proceed)
        return voice
    }

    private static func pumping() -> DeliveryStateMachine {
        var voice = asking()
        #expect(voice.report(half) == .wanted)
        #expect(voice.pump() == half)
        return voice
    }

    private static func ending() -> DeliveryStateMachine {
        var voice = asking()
        #expect(voice.commit(isFinal: true) == .proceed)
        return voice
    }

    // MARK: Silent

    @Test func `a run speaks first, and nobody before it`() {
        var voice = DeliveryStateMachine()
        #expect(!voice.isEnding && !voice.isHeard)
        #expect(voice.ask() == .over)
        #expect(voice.speak() == .over)
        #expect(voice.commit(isFinal: true) == .over)
        #expect(voice.hush() == .done)
        #expect(voice.report(Self.half) == .noted)
        #expect(voice.begin() == .proceed)
        #expect(voice.isHeard && !voice.isEnding)
    }

    @Test(arguments: CancelReason.allCases)
    func `a run that was cancelled before it began tells that and nothing else`(reason: CancelReason) {
        var voice = DeliveryStateMachine()
        #expect(voice.cancel(reason) == .stop)
        #expect(voice.cancel(.cancelled) == .nothing)
        #expect(!voice.isEnding)
        #expect(voice.begin() == .cancelled(reason))
        #expect(voice.isEnding)
    }

    @Test func `a run whose beginning nobody hears asks its provider with its first word`() {
        var voice = DeliveryStateMachine()
        #expect(voice.beginAndAsk() == .proceed)
        #expect(voice.cancel(.cancelled) == .takeOver)
    }

    @Test func `a run whose beginning nobody hears learns of an earlier cancel with its first word`() {
        var voice = DeliveryStateMachine()
        #expect(voice.cancel(.superseded) == .stop)
        #expect(voice.beginAndAsk() == .cancelled(.superseded))
        #expect(voice.isEnding)
    }

    @Test func `a run begins once`() {
        for var voice in [Self.speaking(), Self.asking(), Self.pumping(), Self.ending()] {
            #expect(voice.begin() == .over)
            #expect(voice.beginAndAsk() == .over)
        }
    }

    // MARK: The run speaks

    @Test func `a cancel while the run speaks is told by the run before it asks`() {
        var voice = Self.speaking()
        #expect(voice.cancel(.released) == .stop)
        #expect(!voice.isHeard)
        #expect(voice.cancel(.cancelled) == .nothing)
        #expect(voice.ask() == .cancelled(.released))
        #expect(voice.isEnding)
    }

    @Test func `a cancel while the run speaks wins over its answer`() {
        for isFinal in [true, false] {
            var voice = Self.asking()
            #expect(voice.speak() == .proceed)
            #expect(voice.cancel(.superseded) == .stop)
            #expect(voice.speak() == .proceed)
            #expect(voice.commit(isFinal: isFinal) == .cancelled(.superseded))
            #expect(voice.isEnding)
        }
    }

    @Test func `a report while the run speaks is told before it asks`() {
        var voice = Self.speaking()
        #expect(voice.report(Self.half) == .noted)
        #expect(voice.ask() == .progress(Self.half))
        #expect(voice.isHeard)
        #expect(voice.ask() == .proceed)
    }

    @Test func `a report while the run speaks is told before its answer`() {
        var voice = Self.asking()
        #expect(voice.speak() == .proceed)
        #expect(voice.report(Self.half) == .noted)
        #expect(voice.speak() == .progress(Self.half))
        #expect(voice.speak() == .proceed)
        #expect(voice.commit(isFinal: true) == .proceed)
    }

    @Test func `of several reports while the run speaks only the last is told`() {
        var voice = Self.speaking()
        #expect(voice.report(Self.half) == .noted)
        #expect(voice.report(Self.most) == .noted)
        #expect(voice.ask() == .progress(Self.most))
        #expect(voice.ask() == .proceed)
    }

    @Test func `a report while another is told before the run asks is left to the pump`() {
        var voice = Self.speaking()
        #expect(voice.report(Self.half) == .noted)
        #expect(voice.ask() == .progress(Self.half))
        #expect(voice.report(Self.most) == .noted)
        #expect(voice.ask(hasTold: true) == .proceedWithPump)
        #expect(voice.report(Self.most) == .noted)
        #expect(voice.pump() == Self.most)
        #expect(voice.hush() == .done)
    }

    @Test func `a cancel drops what was reported before and after it`() {
        var voice = Self.speaking()
        #expect(voice.report(Self.half) == .noted)
        #expect(voice.cancel(.cancelled) == .stop)
        #expect(voice.report(Self.most) == .noted)
        #expect(voice.speak() == .proceed)
        #expect(voice.ask() == .cancelled(.cancelled))
    }

    @Test func `the pump has nothing to do while the run speaks`() {
        var voice = Self.speaking()
        #expect(voice.hush() == .done)
        #expect(voice.ask() == .proceed)
    }

    // MARK: The provider is at work

    @Test func `a cancel while the provider is at work is told by whoever cancels`() {
        var voice = Self.asking()
        #expect(!voice.isHeard)
        #expect(voice.cancel(.cancelled) == .takeOver)
        #expect(voice.isEnding)
        #expect(voice.speak() == .over)
        #expect(voice.commit(isFinal: true) == .over)
    }

    @Test func `a value that isn't the last leaves the word with the run`() {
        for speaksFirst in [true, false] {
            var voice = Self.asking()
            if speaksFirst { #expect(voice.speak() == .proceed) }
            #expect(voice.commit(isFinal: false) == .proceed)
            #expect(!voice.isEnding && voice.isHeard)
            #expect(voice.ask() == .proceed)
            #expect(voice.cancel(.cancelled) == .takeOver)
        }
    }

    @Test func `the last answer decides the end`() {
        for speaksFirst in [true, false] {
            var voice = Self.asking()
            if speaksFirst { #expect(voice.speak() == .proceed) }
            #expect(voice.commit(isFinal: true) == .proceed)
            #expect(voice.isEnding)
        }
    }

    // MARK: The pump speaks

    @Test func `whoever reports while nobody speaks sends for the pump`() {
        var voice = Self.pumping()
        #expect(voice.isHeard)
        #expect(voice.hush() == .done)
        #expect(!voice.isHeard)
        #expect(voice.report(Self.most) == .wanted)
    }

    @Test func `a pump is sent for once, and tells the last report`() {
        var voice = Self.asking()
        #expect(voice.report(Self.half) == .wanted)
        #expect(voice.report(Self.most) == .noted)
        #expect(voice.pump() == Self.most)
        #expect(voice.pump() == nil)
    }

    @Test func `an answer that is quicker than the pump tells the report itself`() {
        var voice = Self.asking()
        #expect(voice.report(Self.half) == .wanted)
        #expect(voice.speak() == .progress(Self.half))
        #expect(voice.speak() == .proceed)
        #expect(voice.pump() == nil)
        #expect(voice.commit(isFinal: true) == .proceed)
    }

    @Test func `a pump that comes after a cancel or the end has nothing to tell`() {
        var voice = Self.asking()
        #expect(voice.report(Self.half) == .wanted)
        #expect(voice.cancel(.cancelled) == .takeOver)
        #expect(voice.pump() == nil)
    }

    @Test func `the pump goes on while there are reports`() {
        var voice = Self.pumping()
        #expect(voice.report(Self.most) == .noted)
        #expect(voice.hush() == .progress(Self.most))
        #expect(voice.hush() == .done)
        #expect(voice.cancel(.cancelled) == .takeOver)
    }

    @Test func `an answer waits until the pump has spoken`() {
        var voice = Self.pumping()
        #expect(voice.speak() == .wait)
        #expect(voice.commit(isFinal: true) == .over)
        #expect(voice.hush() == .handOver)
        #expect(voice.speak() == .proceed)
        #expect(voice.commit(isFinal: true) == .proceed)
    }

    @Test func `what was reported last is told by the run when the pump hands over`() {
        var voice = Self.pumping()
        #expect(voice.speak() == .wait)
        #expect(voice.report(Self.most) == .noted)
        #expect(voice.hush() == .handOver)
        #expect(voice.speak() == .progress(Self.most))
        #expect(voice.speak() == .proceed)
    }

    @Test func `a run that is woken for nothing waits again`() {
        var voice = Self.pumping()
        #expect(voice.speak() == .wait)
        #expect(voice.speak() == .wait)
        #expect(voice.hush() == .handOver)
    }

    @Test(arguments: [true, false])
    func `a cancel while the pump speaks is told by the pump`(runWaits: Bool) {
        var voice = Self.pumping()
        if runWaits { #expect(voice.speak() == .wait) }
        #expect(voice.report(Self.most) == .noted)
        #expect(voice.cancel(.superseded) == .stop)
        #expect(!voice.isHeard)
        #expect(voice.hush() == .end(.superseded, runWaits: runWaits))
        #expect(voice.isEnding)
        #expect(voice.speak() == .over)
    }

    @Test func `an answer that comes after the cancel waits for the pump to tell it`() {
        var voice = Self.pumping()
        #expect(voice.cancel(.cancelled) == .stop)
        #expect(voice.speak() == .wait)
        #expect(voice.hush() == .end(.cancelled, runWaits: true))
    }

    // MARK: The end is decided

    @Test func `after the end nobody speaks and nothing is decided again`() {
        var voice = Self.ending()
        #expect(voice.isEnding && !voice.isHeard)
        #expect(voice.ask() == .over)
        #expect(voice.speak() == .over)
        #expect(voice.commit(isFinal: false) == .over)
        #expect(voice.commit(isFinal: true) == .over)
        #expect(voice.hush() == .done)
        #expect(voice.report(Self.most) == .noted)
        for reason in CancelReason.allCases { #expect(voice.cancel(reason) == .nothing) }
        #expect(voice.isEnding)
    }

    // MARK: The fraction

    @Test func `a fraction never goes backwards, whoever tells it`() {
        var voice = Self.asking()
        #expect(voice.report(Self.most) == .wanted)
        #expect(voice.pump() == Self.most)
        #expect(voice.report(IntegrationProgress(fraction: 0.25)) == .noted)
        #expect(voice.hush() == .progress(Self.most))
        #expect(voice.hush() == .done)
        #expect(voice.speak() == .proceed)
        #expect(voice.report(IntegrationProgress(fraction: 0.1)) == .noted)
        #expect(voice.speak() == .progress(Self.most))
    }

    @Test func `a report keeps its counts when its fraction is raised`() {
        var voice = Self.asking()
        #expect(voice.report(Self.most) == .wanted)
        #expect(voice.pump() == Self.most)
        #expect(voice.hush() == .done)
        let later = IntegrationProgress(fraction: 0.2, completed: 2, total: 10)
        #expect(voice.report(later) == .wanted)
        #expect(voice.pump() == IntegrationProgress(fraction: 0.75, completed: 2, total: 10))
    }
}
