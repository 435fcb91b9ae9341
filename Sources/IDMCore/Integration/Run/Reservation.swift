/// What a run has joined as it was admitted, until it comes to ask, or is stopped before.
final class Reservation: Sendable {
    enum State: Sendable {
        case nothing
        case joined(any Inquiry)
        /// The run will not ask.
        case over
    }

    private let state = Locked(State.nothing)

    /// Keeps an inquiry. After the end it is left.
    func take(_ inquiry: any Inquiry) {
        let isOver = state.withLock { state in
            if case .over = state { return true }
            state = .joined(inquiry)
            return false
        }
        if isOver { inquiry.leave() }
    }

    /// Gives what there is to the run, an inquiry once.
    func give() -> State {
        state.withLock { state in
            defer { if case .joined = state { state = .nothing } }
            return state
        }
    }

    /// The run is stopped. What it has joined and not been given is left.
    func end() {
        let inquiry: (any Inquiry)? = state.withLock { state in
            defer { state = .over }
            if case .joined(let inquiry) = state { return inquiry }
            return nil
        }
        inquiry?.leave()
    }
}
