@testable import IDMCore

extension AdmissionWalk {
    /// The effect of a cancel.
    enum Effect: Hashable {
        case resume(Int)
        case cancelTask(Int)
        case deliver(Int, CancelReason)
    }

    enum Move {
        case submit(SubmissionKind)
        /// The predecessors of a held call have finished.
        case admit(Int)
        case endDebounce(Int)
        /// The task of a call delivers its first event.
        case start(Int)
        /// A call that left the line is paused: the next one may start.
        case postponeStart(Int)
        case awaitProvider(Int)
        /// The provider has answered; the handler's turn comes later.
        case beginDelivery(Int)
        /// A value that isn't the last is committed.
        case value(Int)
        /// The last value or the error is committed.
        case end(Int)
        /// A provider that ignored its cancel answers.
        case answerLate(Int)
        /// The last handler has run.
        case finish(Int)
        case cancel(Int)
        case cancelAll
        case release
    }

    enum Phase: UInt16 {
        case held, debouncing, waiting
        /// The call's task is about to deliver its first event.
        case ready
        /// An event other than the end is delivered.
        case delivering
        case awaitingProvider
        /// An answer waits for the turn of its handler.
        case answering
        /// The end is delivered by the call's own task, or by its canceller.
        case ended, endedByCanceller
        case finished
    }

    struct Call {
        var phase = Phase.held
        var kind: SubmissionKind
        /// The reason of a cancel that the machine has received.
        var cancelled: CancelReason?
        var isInside = false
        /// True while the provider runs after the end.
        var isLate = false
        var ends = 0

        var hasBegun = false

        var isRunning: Bool {
            switch phase {
            case .delivering, .awaitingProvider, .answering: true
            case .ended, .endedByCanceller: hasBegun
            case .held, .debouncing, .waiting, .ready, .finished: false
            }
        }

        var isEnded: Bool {
            switch phase {
            case .ended, .endedByCanceller, .finished: true
            case .held, .debouncing, .waiting, .ready, .delivering, .awaitingProvider, .answering: false
            }
        }

        /// True if the call has a place and was not cancelled.
        var isUndecided: Bool {
            switch phase {
            case .debouncing, .ready, .delivering, .awaitingProvider, .answering: cancelled == nil
            case .held, .waiting, .ended, .endedByCanceller, .finished: false
            }
        }

        /// - Parameter isStrict: Pass true to include the history, which has no effect on later moves.
        func code(isStrict: Bool) -> UInt16 {
            var code = phase.rawValue | (isLate ? 1 << 4 : 0)
            if phase == .finished && !isStrict { return code }
            code |= (isInside ? 1 << 5 : 0) | (hasBegun ? 1 << 6 : 0)
            if phase == .ended && !isStrict { return code }
            if kind == .withoutBegin && !hasBegun { code |= 1 << 7 }
            if let cancelled { code |= UInt16(CancelReason.allCases.firstIndex(of: cancelled)! + 1) << 8 }
            return code
        }
    }
}
