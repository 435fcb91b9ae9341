/// What a run has joined as it was admitted, until it comes to ask, or is stopped before.
final class Reservation: Sendable {
    private enum State {
        case none
        case joined(any Inquiry)
        case over
    }

    private let state = Locked(State.none)

    /// Keeps an inquiry. After the end it is left.
    func take(_ inquiry: any Inquiry) {
        let isOver = state.withLock { state in
            if case .over = state { return true }
            state = .joined(inquiry)
            return false
        }
        if isOver { inquiry.leave() }
    }

    /// Gives the inquiry to the run, once.
    func give() -> (any Inquiry)? {
        state.withLock { state in
            guard case .joined(let inquiry) = state else { return nil }
            state = .none
            return inquiry
        }
    }

    /// The run will not ask.
    func end() {
        let inquiry: (any Inquiry)? = state.withLock { state in
            defer { state = .over }
            if case .joined(let inquiry) = state { return inquiry }
            return nil
        }
        inquiry?.leave()
    }
}
