import IDMTesting
import TestSupport

@testable import IDMCore

/// One run, and every move that its task, its pump, those who report and those who cancel may make.
///
/// Each party does what the code of a run does with the machine's answers, one turn at a time. Which of them speaks,
/// what has been heard and who was told to tell the end is written down here, and checked after each move.
struct VoiceWalk: Explorable {
    struct Bounds {
        var reports = 3
        var cancels = 2
        /// How many values come before the last answer, and how often the run is tried again.
        var values = 1
        var retries = 1
        /// Where nobody hears progress, an answer is committed without asking for the word first.
        var hearsProgress = true
    }

    enum Move {
        case begin(isHeard: Bool)
        case ask
        /// The provider answers, and the run asks for the word.
        case answer(Answer)
        /// The run asks for the word again: it told a progress, or was woken, perhaps for nothing.
        case speak
        /// The run tells what it has the word for.
        case tell
        case report(Double)
        /// A pump that was sent for comes.
        case pumpCome
        /// The pump tells a progress, in the turn in which it is heard.
        case pumpTell
        case hush
        case cancel(CancelReason)
    }

    enum Answer: Hashable { case value, last, retry }

    /// Where the run's own task is.
    private enum Whereabouts: Hashable {
        case unbegun
        /// Handlers run that aren't those of the end. Then it asks.
        case telling
        /// It asked, and told a progress before. Then it asks again.
        case toldProgress
        case waitingForProvider
        /// It has the word. Perhaps there is progress to tell before its answer.
        case hasWord(Answer)
        /// It may commit its answer.
        case aboutToTell(Answer)
        case parked(Answer, Wake)
        case gone
    }

    private enum Wake: Hashable { case none, toSpeak, toLeave }

    private enum Pump: Hashable {
        case idle
        case aboutToTell(IntegrationProgress)
        case told
    }

    private struct Facts: Hashable {
        var task = Whereabouts.unbegun
        var pump = Pump.idle
        /// How many pumps were sent for and haven't come.
        var sent = 0
        var cancelled: CancelReason?
        var ends = 0
        /// Reports are counted: the last one made, the last one heard, and the one that is due before the answer.
        var reported: Int64 = 0
        var heard: Int64 = 0
        var due: Int64 = 0
        var fraction = 0.0
        var hasAsked = false
        var cancels = 0
        var values = 0
        var retries = 0
    }

    struct Footprint: Hashable {
        private let facts: Facts
        private let voice: DeliveryStateMachine

        fileprivate init(_ walk: VoiceWalk) {
            (facts, voice) = (walk.facts, walk.voice)
        }
    }

    let bounds: Bounds
    private var voice = DeliveryStateMachine()
    private var facts = Facts()

    init(_ bounds: Bounds) {
        self.bounds = bounds
    }

    /// The machine itself is part of it: what it hides counts.
    var footprint: Footprint { Footprint(self) }

    // MARK: What may happen

    var moves: [Move] {
        var moves: [Move] = []
        switch facts.task {
        case .unbegun:
            moves += [.begin(isHeard: true), .begin(isHeard: false)]
        case .telling, .toldProgress:
            moves.append(.ask)
        case .waitingForProvider:
            moves.append(.answer(.last))
            if facts.values < bounds.values { moves.append(.answer(.value)) }
            if facts.retries < bounds.retries { moves.append(.answer(.retry)) }
        case .hasWord, .parked:
            moves.append(.speak)
        case .aboutToTell:
            moves.append(.tell)
        case .gone:
            break
        }
        if facts.sent > 0 { moves.append(.pumpCome) }
        switch facts.pump {
        case .idle: break
        case .aboutToTell: moves.append(.pumpTell)
        case .told: moves.append(.hush)
        }
        if bounds.hearsProgress && facts.hasAsked && facts.reported < bounds.reports {
            moves += [.report(0.25), .report(0.75)]
        }
        if facts.cancels < bounds.cancels { moves += [.cancel(.cancelled), .cancel(.superseded)] }
        return moves
    }

    // MARK: What comes of it

    mutating func make(_ move: Move) throws(Violation) {
        switch move {
        case .begin(let isHeard): try begin(isHeard)
        case .ask: try ask()
        case .answer(let answer): try take(answer)
        case .speak: try speak()
        case .tell: try tell()
        case .report(let fraction): try report(fraction)
        case .pumpCome: try pumpCome()
        case .pumpTell: try pumpTell()
        case .hush: try hush()
        case .cancel(let reason): try cancel(reason)
        }
        try check()
    }

    private mutating func begin(_ isHeard: Bool) throws(Violation) {
        switch isHeard ? voice.begin() : voice.beginAndAsk() {
        case .proceed:
            try require(facts.cancelled == nil, "A run began that had been cancelled")
            facts.task = isHeard ? .telling : .waitingForProvider
            facts.hasAsked = !isHeard
        case .cancelled(let reason):
            try end(by: reason)
        case let turn:
            throw Violation("A run can't begin with \(turn)")
        }
    }

    private mutating func ask() throws(Violation) {
        let hasTold = facts.task == .toldProgress
        switch voice.ask(hasTold: hasTold) {
        case .proceed:
            facts.task = .waitingForProvider
            facts.hasAsked = true
        case .proceedWithPump:
            try require(hasTold && facts.heard < facts.reported, "A pump was sent for with nothing to tell")
            facts.task = .waitingForProvider
            facts.hasAsked = true
            facts.sent += 1
        case .progress(let progress):
            try require(!hasTold, "A second progress puts the provider off")
            facts.task = .toldProgress
            try hear(progress)
        case .cancelled(let reason):
            try end(by: reason)
        case let turn:
            throw Violation("A run that has the word can't be answered \(turn)")
        }
    }

    private mutating func take(_ answer: Answer) throws(Violation) {
        facts.due = facts.reported
        if answer == .value { facts.values += 1 }
        if answer == .retry { facts.retries += 1 }
        // The end of a run to which nobody reports is committed straight away.
        facts.task = bounds.hearsProgress || answer != .last ? .hasWord(answer) : .aboutToTell(answer)
        if case .hasWord = facts.task { try speak() }
    }

    private mutating func speak() throws(Violation) {
        let isForNothing: Bool
        let answer: Answer
        switch facts.task {
        case .hasWord(let waiting): (answer, isForNothing) = (waiting, false)
        case .parked(let waiting, let wake): (answer, isForNothing) = (waiting, wake == .none)
        default: throw Violation("Only a run that has an answer asks for the word")
        }
        switch voice.speak() {
        case .proceed:
            try require(!isForNothing, "A run that was woken for nothing got the word")
            facts.task = .aboutToTell(answer)
        case .progress(let progress):
            try require(!isForNothing, "A run that was woken for nothing got the word")
            facts.task = .hasWord(answer)
            try hear(progress)
        case .wait:
            try require(facts.pump != .idle, "A run waits, and nobody will wake it")
            facts.task = .parked(answer, .none)
        case .over:
            try require(facts.ends == 1, "A run left before its end")
            facts.task = .gone
        case .proceedWithPump:
            throw Violation("Only a run that asks sends for the pump")
        case .cancelled(let reason):
            throw Violation("A cancel for \(reason) is told in the turn in which it is heard, not before")
        }
    }

    private mutating func tell() throws(Violation) {
        guard case .aboutToTell(let answer) = facts.task else { throw Violation("There is no answer to tell") }
        if answer == .retry {
            try same(voice.isHeard, facts.cancelled == nil, "A retry is told unless the run was cancelled")
            facts.task = .telling
            return
        }
        switch voice.commit(isFinal: answer == .last) {
        case .proceed:
            try require(facts.cancelled == nil, "An answer was committed after a cancel")
            try require(facts.heard >= facts.due, "An answer was told before the last report")
            if answer == .last { try end(by: nil) } else { facts.task = .telling }
        case .cancelled(let reason):
            try end(by: reason)
        case .over:
            try require(facts.ends == 1 && !bounds.hearsProgress, "A run that has the word lost it")
            facts.task = .gone
        case let turn:
            throw Violation("A run can't commit with \(turn)")
        }
    }

    private mutating func report(_ fraction: Double) throws(Violation) {
        let isOver = facts.ends == 1 || facts.cancelled != nil
        let someoneSpeaks = someoneSpeaks
        facts.reported += 1
        let progress = IntegrationProgress(fraction: fraction, completed: facts.reported)
        switch voice.report(progress) {
        case .wanted:
            try require(!isOver && !someoneSpeaks, "A pump was sent for while somebody sees to the report")
            facts.sent += 1
        case .noted:
            try require(isOver || someoneSpeaks || facts.sent > 0, "A report was dropped")
        }
    }

    private mutating func pumpCome() throws(Violation) {
        let isOver = facts.ends == 1 || facts.cancelled != nil
        facts.sent -= 1
        if let progress = voice.pump() {
            try require(!isOver && !someoneSpeaks, "A pump speaks while it mustn't")
            facts.pump = .aboutToTell(progress)
        } else {
            try require(isOver || someoneSpeaks || facts.heard == facts.reported, "A pump left with a report to tell")
        }
    }

    private mutating func pumpTell() throws(Violation) {
        guard case .aboutToTell(let progress) = facts.pump else { throw Violation("The pump has nothing to tell") }
        facts.pump = .told
        if voice.isHeard { try hear(progress) }
    }

    private mutating func hush() throws(Violation) {
        facts.pump = .idle
        switch voice.hush() {
        case .done:
            break
        case .progress(let progress):
            facts.pump = .aboutToTell(progress)
        case .handOver:
            guard case .parked(let answer, .none) = facts.task else { throw Violation("The word went to nobody") }
            facts.task = .parked(answer, .toSpeak)
        case .end(let reason, let runWaits):
            if case .parked(let answer, .none) = facts.task {
                try require(runWaits, "A waiting run was forgotten")
                facts.task = .parked(answer, .toLeave)
            } else {
                try require(!runWaits, "A run was woken that doesn't wait")
            }
            try same(reason, facts.cancelled, "the reason that the pump tells")
            facts.ends += 1
        }
    }

    private mutating func cancel(_ reason: CancelReason) throws(Violation) {
        facts.cancels += 1
        let expected: DeliveryStateMachine.Cancel
        if facts.cancelled != nil || facts.ends == 1 {
            expected = .nothing
        } else if facts.task == .unbegun || someoneSpeaks {
            expected = .stop
        } else {
            expected = .takeOver
        }
        try same(voice.cancel(reason), expected, "what comes of a cancel")
        if expected != .nothing { facts.cancelled = reason }
        if expected == .takeOver { facts.ends += 1 }
    }

    /// The run's own task tells the end.
    private mutating func end(by reason: CancelReason?) throws(Violation) {
        try same(reason, facts.cancelled, "the reason that the run tells")
        try require(facts.pump == .idle, "The end was told while the pump spoke")
        facts.ends += 1
        facts.task = .gone
    }

    private mutating func hear(_ progress: IntegrationProgress) throws(Violation) {
        let count = progress.completed ?? 0
        try require(facts.ends == 0 && facts.cancelled == nil, "A progress was told after the end or a cancel")
        try require(count > facts.heard, "Report \(count) was told after report \(facts.heard)")
        try require(progress.fraction >= facts.fraction, "A fraction went backwards")
        facts.heard = count
        facts.fraction = progress.fraction
    }

    // MARK: What must hold always

    private var runSpeaks: Bool {
        switch facts.task {
        case .telling, .toldProgress, .hasWord, .parked(_, .toSpeak): true
        // What nobody reports to is committed without the word.
        case .aboutToTell(let answer): bounds.hearsProgress || answer != .last
        case .unbegun, .waitingForProvider, .parked, .gone: false
        }
    }

    private var someoneSpeaks: Bool {
        runSpeaks || facts.pump != .idle
    }

    private func check() throws(Violation) {
        try require(facts.ends <= 1, "The end was decided \(facts.ends) times")
        try require(!runSpeaks || facts.pump == .idle, "The run and the pump speak at the same time")
        try require(facts.ends == 0 || !someoneSpeaks, "Somebody speaks beside whoever tells the end")
        try same(voice.isEnding, facts.ends == 1, "whether the end is decided")
        try same(voice.isHeard, someoneSpeaks && facts.cancelled == nil, "whether a word is heard")
        if case .parked(_, .none) = facts.task {
            try require(facts.pump != .idle, "A run waits, and nobody will wake it")
        }
        if facts.task == .waitingForProvider && facts.pump == .idle && facts.cancelled == nil {
            try require(facts.heard == facts.reported || facts.sent > 0, "A report was forgotten")
        }
        if facts.task == .gone && facts.pump == .idle {
            try require(facts.ends == 1, "All have left, and the end wasn't decided")
        }
    }

    private func same<Value: Equatable>(_ value: Value, _ expected: Value, _ what: String) throws(Violation) {
        try require(value == expected, "\(what): \(value) instead of \(expected)")
    }
}
