internal import Foundation

/// Where a body stands that is read by whoever asks, and fetched by a worker that waits until somebody does. A value:
/// who is to be told what comes out of each event, and is told by somebody else where no lock is held.
struct TimedBodyStateMachine<Reader, Worker> {
    /// Who is to be told what.
    enum Action {
        case none
        /// The worker is to fetch a piece, or to stop.
        case tell(Worker, goOn: Bool)
        /// Those who read get a piece, the end, or what stopped it.
        case answer([Reader], Result<Data?, any Error>)
    }

    /// What a silence means.
    enum Expired {
        /// Nobody had asked for anything, and nobody listens for silences until somebody does.
        case rest
        /// Something has happened since: listen on.
        case listen
        /// It is one.
        case over
    }

    private enum Phase {
        /// Nobody reads. The worker waits, or is on its way to.
        case resting(Worker?)
        /// The worker fetches, or is on its way to.
        case reading([Reader])
        /// Nothing comes any more.
        case ended((any Error)?)
    }

    private var phase = Phase.resting(nil)
    private var isListening = false
    /// Changes with everything that happens.
    private(set) var turn = 0

    /// Whether nothing comes any more.
    var hasEnded: Bool { if case .ended = phase { true } else { false } }

    /// Somebody asks for a piece. Whether somebody has to begin to listen for silences comes along.
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

    /// The worker waits until somebody asks.
    mutating func wait(_ worker: Worker) -> Action {
        switch phase {
        case .resting:
            phase = .resting(worker)
            return .none
        case .reading: return .tell(worker, goOn: true)
        case .ended: return .tell(worker, goOn: false)
        }
    }

    /// A piece has come.
    mutating func take(_ piece: Data) -> Action {
        guard case .reading(let readers) = phase else { return .none }
        turn += 1
        phase = readers.count == 1 ? .resting(nil) : .reading(Array(readers.dropFirst()))
        return .answer([readers[0]], .success(piece))
    }

    /// Nothing comes any more, and why. Only the first end is one.
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

    /// Nothing has been heard for the time, and nothing had happened since a turn when that began.
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
