/// A line of tasks that do something one after the other, in the order in which they came.
final class Line: Sendable {
    private struct State {
        /// The first one is who has the turn.
        var tickets: [Int] = []
        var lastTicket = 0
    }

    private let state = Watched(State())

    /// Whether nobody has the turn.
    var isEmpty: Bool { state.value.tickets.isEmpty }

    /// Does something when all those before are done, or as soon as the task is cancelled.
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
