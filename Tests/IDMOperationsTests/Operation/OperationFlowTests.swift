import TestSupport
import Testing

@testable import IDMOperations

/// Every order of events of one operation: it is started, cancelled, paused and resumed, its call is made and is over.
@Suite("The flow of an operation", .timeLimit(.ample))
struct OperationFlowTests {
    private enum Event: CaseIterable, Hashable {
        case start, cancel, pause, resume, made, over, finish
    }

    /// What a walk has seen, beside the flow itself.
    private struct Walk {
        var flow = OperationFlow()
        var making = 0
        var turningAway = 0
        var cancelsOfCall = 0
        var isMade = false
        var isOver = false
        var isFinishing = false
        var isFinished = false
        var wasCancelled = false
        var wasStarted = false
        var isPaused = false
        var path: [Event] = []

        /// Whether the event can come now: a call is made once, after it was asked for, and is over after that.
        func allows(_ event: Event) -> Bool {
            switch event {
            case .start, .cancel: path.filter { $0 == event }.count < 2
            case .pause, .resume: !path.contains(event)
            case .made: making + turningAway == 1 && !isMade
            case .over: isMade && !isOver
            case .finish: isFinishing && path.filter { $0 == .finish }.count < 2
            }
        }

        mutating func take(_ event: Event) {
            path.append(event)
            switch event {
            case .start:
                wasStarted = true
                switch flow.start(isPaused: isPaused) {
                case .makeCall: make()
                case .finish:
                    // Whoever is told to finish it tells the queue, which is to hear that once.
                    #expect(!isFinishing, "\(path)")
                    isFinishing = true
                case .nothing: break
                }
            case .pause:
                isPaused = true
            case .resume:
                isPaused = false
                if flow.resume(isPaused: false) { make() }
            case .cancel:
                let isLate = isOver
                switch flow.cancel() {
                case .turnAway: turningAway += 1
                case .cancelCall: cancelsOfCall += 1
                case .nothing: break
                }
                if !isLate { wasCancelled = true }
            case .made:
                isMade = true
                if flow.made() { cancelsOfCall += 1 }
            case .over:
                isOver = true
                isFinished = wasStarted
                flow.over()
            case .finish:
                isFinished = true
                flow.finish()
            }
        }

        private mutating func make() {
            making += 1
            #expect(!isPaused && wasStarted, "\(path)")
        }

        func check() {
            if wasStarted && !isPaused { #expect(making + turningAway == 1, "\(path)") }
            #expect(making + turningAway <= 1, "\(path)")
            #expect(flow.isFinished == isFinished, "\(path)")
            #expect(flow.isExecuting == (wasStarted && !isFinished), "\(path)")
            // Whoever starts it after its end finishes it.
            if wasStarted && isOver { #expect(isFinished || isFinishing, "\(path)") }
            // A cancel is lost only after the end.
            if wasCancelled && isMade && making == 1 { #expect(cancelsOfCall >= 1, "\(path)") }
            if !wasCancelled { #expect(cancelsOfCall + turningAway == 0, "\(path)") }
        }
    }

    @Test func `a call is made once, a cancel is never lost, and nothing is finished before it was started`() {
        var open = [Walk()]
        var seen = 0
        while let walk = open.popLast() {
            seen += 1
            for event in Event.allCases where walk.allows(event) {
                var next = walk
                next.take(event)
                next.check()
                open.append(next)
            }
        }
        #expect(seen > 100)
    }
}
