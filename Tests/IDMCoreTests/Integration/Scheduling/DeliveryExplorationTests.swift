import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

/// Everything that a run, its pump, its reporters and its cancellers can do, in every order.
@Suite(.timeLimit(.ample))
struct VoiceExplorationTests {
    @Test func `one speaks at a time, one tells the end, and no last report is lost, in every order`() {
        let found = Exploration(of: VoiceWalk(.init()))
        #expect(found.violation == nil)
        #expect(found.states > 1_000)
    }

    @Test func `the same holds where nobody hears progress`() {
        let found = Exploration(of: VoiceWalk(.init(cancels: 3, values: 2, retries: 2, hearsProgress: false)))
        #expect(found.violation == nil)
        #expect(found.states > 50)
    }

    @Test func `whatever comes in whatever order, the end is decided at most once and is the end`() {
        let found = Exploration(of: VoiceChaos())
        #expect(found.violation == nil)
        #expect(found.states > 20)
    }

    @Test(.enabled(if: Volume.isFull, "IDM_SOAK=1 walks this far"), .timeLimit(.ample))
    func `with more reports, cancels, values and retries it is no different`() {
        let found = Exploration(of: VoiceWalk(.init(reports: 5, cancels: 3, values: 2, retries: 2)))
        #expect(found.violation == nil)
    }
}

/// Every event in every state that any events lead to, also such as no run would send.
private struct VoiceChaos: Explorable {
    enum Move: CaseIterable {
        case begin, beginAndAsk, ask, askAgain, speak, value, end, reportLess, reportMore, pump, hush, cancel, supersede
    }

    private var voice = DeliveryStateMachine()
    private var ends = 0
    private var cancels = 0
    private var fraction = 0.0

    var moves: [Move] { Move.allCases }

    var footprint: String { "\(voice) \(ends) \(cancels) \(fraction)" }

    mutating func make(_ move: Move) throws(Violation) {
        let wasEnding = voice.isEnding
        switch move {
        case .begin: try note(voice.begin())
        case .beginAndAsk: try note(voice.beginAndAsk())
        case .ask: try note(voice.ask())
        case .askAgain: try note(voice.ask(hasTold: true))
        case .speak: try note(voice.speak())
        case .value: try note(voice.commit(isFinal: false))
        case .end: try note(voice.commit(isFinal: true), isFinal: true)
        case .reportLess: _ = voice.report(IntegrationProgress(fraction: 0.25))
        case .reportMore: _ = voice.report(IntegrationProgress(fraction: 0.75))
        case .pump: if let progress = voice.pump() { try hear(progress) }
        case .hush: try note(voice.hush())
        case .cancel: note(voice.cancel(.cancelled))
        case .supersede: note(voice.cancel(.superseded))
        }
        try require(ends <= 1, "The end was decided \(ends) times")
        try require(cancels <= 1, "\(cancels) cancels were taken")
        try require(voice.isEnding == (ends == 1), "The end was decided, and nobody tells it")
        try require(!wasEnding || voice.isEnding, "The end was taken back")
        try require(!voice.isHeard || ends + cancels == 0, "A word would be heard after the end or a cancel")
    }

    private mutating func note(_ turn: DeliveryStateMachine.Turn, isFinal: Bool = false) throws(Violation) {
        switch turn {
        case .proceed: if isFinal { ends += 1 }
        case .cancelled: ends += 1
        case .progress(let progress): try hear(progress)
        case .proceedWithPump, .wait, .over: break
        }
    }

    private mutating func note(_ hush: DeliveryStateMachine.Hush) throws(Violation) {
        switch hush {
        case .progress(let progress): try hear(progress)
        case .end: ends += 1
        case .done, .handOver: break
        }
    }

    private mutating func note(_ cancel: DeliveryStateMachine.Cancel) {
        switch cancel {
        case .stop: cancels += 1
        case .takeOver:
            cancels += 1
            ends += 1
        case .nothing: break
        }
    }

    private mutating func hear(_ progress: IntegrationProgress) throws(Violation) {
        try require(ends + cancels == 0, "A progress was told after the end or a cancel")
        try require(progress.fraction >= fraction, "A fraction went backwards")
        fraction = progress.fraction
    }
}
