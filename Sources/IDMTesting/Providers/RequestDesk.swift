/// The requests that have come, and how many of them the test has.
package final class RequestDesk<Request: Sendable>: Sendable {
    package let ledger = FailureLedger.current
    private let state = Watched((requests: [Request](), handedOut: 0))

    package init() {}

    package var requests: [Request] { state.value.requests }

    package func add(_ request: Request) {
        state.change { $0.requests.append(request) }
    }

    /// - Parameter place: Where the test waits.
    package func next(at place: SourcePlace) async throws -> Request {
        while true {
            try await ledger.wait(for: state, at: place) {
                $0.requests.count > $0.handedOut
            } missing: {
                "Expected \(($0.handedOut + 1).requests), and \($0.requests.count.orNone) came"
            }
            // Taken only now, or it would be lost with whoever gives up. Of several who wait one is the first.
            let request: Request? = state.change { state in
                guard state.requests.count > state.handedOut else { return nil }
                state.handedOut += 1
                return state.requests[state.handedOut - 1]
            }
            if let request { return request }
        }
    }
}
