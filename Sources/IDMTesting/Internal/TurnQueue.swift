/// Runs the bodies of several tasks one by one, in the order of their arrival.
final class TurnQueue: Sendable {
    private struct State {
        /// The first ticket has the turn.
        var tickets: [Int] = []
        var lastTicket = 0
    }

    private let state = Observed(State())

    /// True if no task has the turn.
    var isEmpty: Bool { state.value.tickets.isEmpty }

    /// Runs a body when all earlier ones have ended, or as soon as the task is cancelled.
    func inTurn<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async -> Value
    ) async -> Value {
        let (ticket, isFirst) = state.change { state in
            state.lastTicket += 1
            state.tickets.append(state.lastTicket)
            return (state.lastTicket, state.tickets.count == 1)
        }
        defer { state.change { state in state.tickets.removeAll { $0 == ticket } } }
        if !isFirst { try? await state.wait { $0.tickets.first == ticket } }
        return await body()
    }
}
