internal import Foundation

/// The state of a body that a worker task reads on demand. A pure state machine: each event returns the continuations
/// to resume, outside of all locks.
struct TimedBodyStateMachine<Reader, Worker> {
    enum Action {
        case none
        /// The worker is to fetch a piece, or to stop.
        case tell(Worker, goOn: Bool)
        /// Resumes readers with a piece, the end, or an error.
        case answer([Reader], Result<Data?, any Error>)
    }

    /// The meaning of an expired idle timer.
    enum Expired {
        /// No reader waits. The timer starts with the next one.
        case rest
        /// Something has happened since: listen on.
        case listen
        /// It is one.
        case over
    }

    private enum Phase {
        /// No reader waits. The worker is suspended, or about to be.
        case resting(Worker?)
        /// The worker fetches, or is on its way to.
        case reading([Reader])
        /// The body has ended, with an error or without.
        case ended((any Error)?)
    }

    private var phase = Phase.resting(nil)
    private var isListening = false
    /// Changes with everything that happens.
    private(set) var turn = 0

    var hasEnded: Bool { if case .ended = phase { true } else { false } }

    /// Adds a reader. The result includes whether the idle timer has to be started.
    mutating func ask(_ reader: Reader) -> (action: Action, listens: Bool) {
        turn += 1
        switch phase {
        case .resting(let worker):
            phase = .reading([reader])
            defer { isListening = true }
            return (worker.map { .tell($0, goOn: true) } ?? .none, !isListening)
        case .reading(let readers):
            phase = .reading(readers + [reader])
            return (.none, false)
        case .ended(let error):
            return (.answer([reader], error.map { .failure($0) } ?? .success(nil)), false)
        }
    }

    /// Suspends the worker until a reader waits.
    mutating func wait(_ worker: Worker) -> Action {
        switch phase {
        case .resting:
            phase = .resting(worker)
            return .none
        case .reading: return .tell(worker, goOn: true)
        case .ended: return .tell(worker, goOn: false)
        }
    }

    mutating func take(_ piece: Data) -> Action {
        guard case .reading(let readers) = phase else { return .none }
        turn += 1
        phase = readers.count == 1 ? .resting(nil) : .reading(Array(readers.dropFirst()))
        return .answer([readers[0]], .success(piece))
    }

    /// Ends the body. Later calls have no effect.
    mutating func end(_ error: (any Error)?) -> Action {
        switch phase {
        case .resting(let worker):
            phase = .ended(error)
            return worker.map { .tell($0, goOn: false) } ?? .none
        case .reading(let readers):
            phase = .ended(error)
            return .answer(readers, error.map { .failure($0) } ?? .success(nil))
        case .ended:
            return .none
        }
    }

    /// Handles an expired idle timer, which was started at `turn`.
    mutating func silence(since turn: Int) -> Expired {
        switch phase {
        case .resting:
            isListening = false
            return .rest
        case .reading: return turn == self.turn ? .over : .listen
        case .ended: return .rest
        }
    }
}

extension TimedBodyStateMachine.Action: Sendable where Reader: Sendable, Worker: Sendable {}
