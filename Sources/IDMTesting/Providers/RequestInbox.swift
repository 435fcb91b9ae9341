import IDMCore

/// The requests that a provider of the kit has received, and which of them the test has been given.
package final class RequestInbox<Request: Sendable>: Sendable {
    package let collector = FailureCollector.current
    private let state = Observed(State())

    private struct State: Sendable {
        var requests: [Request] = []
        /// Parallel to the requests: the line at which the test was given the request.
        var places: [SourcePlace?] = []

        /// The first request that the test hasn't been given.
        var start = 0

        func nextIndex(where isWanted: (Request) -> Bool) -> Int? {
            requests.indices[start...].first { places[$0] == nil && isWanted(requests[$0]) }
        }

        mutating func take(_ index: Int, at place: SourcePlace) -> Request {
            places[index] = place
            while start < places.count, places[start] != nil { start += 1 }
            return requests[index]
        }
    }

    private let describe: @Sendable (Request) -> String

    /// Makes an inbox.
    ///
    /// - Parameter describe: What failures write for a request.
    package init(describing describe: @escaping @Sendable (Request) -> String) {
        self.describe = describe
    }

    /// Reports each request that is unanswered at the end of the scope: at the line where the test was given the
    /// request, or else at the line of the provider.
    func reportUnanswered(at place: SourcePlace, isAnswered: @escaping @Sendable (Request) -> Bool) {
        // Held weakly: a provider that is gone has no request that could be answered.
        collector.atEnd(
            EndCheck(.activity) { [weak self] in
                self?.requests.allSatisfy(isAnswered) != false
            } failures: { [weak self] in
                guard let self else { return [] }
                let state = state.value
                return state.requests.indices.filter { !isAnswered(state.requests[$0]) }.map { index in
                    let request = describe(state.requests[index])
                    let words = "Expected an answer to the request with \(request), and none came."
                    return TestFailure(words, at: state.places[index] ?? place)
                }
            })
    }

    package var requests: [Request] { state.value.requests }

    package func add(_ request: Request) {
        state.change { state in
            state.requests.append(request)
            state.places.append(nil)
        }
    }

    /// Waits for the earliest wanted request that the test hasn't been given.
    ///
    /// - Parameters:
    ///   - place: The line of the wait.
    ///   - input: The input that is waited for, in words. Nil for any.
    package func next(
        at place: SourcePlace, within limit: Duration? = nil, input: String? = nil,
        where isWanted: @escaping @Sendable (Request) -> Bool = { _ in true }
    ) async throws -> Request {
        while true {
            try await collector.wait(for: state, at: place, within: limit) { state in
                state.nextIndex(where: isWanted) != nil
            } missing: { [describe] state in
                guard state.nextIndex(where: isWanted) == nil else { return nil }
                guard let input else {
                    let count = state.places.count { $0 != nil } + 1
                    return "Expected \(count.requests), and \(state.requests.count.orNone) came"
                }
                let others = state.requests.suffix(5).map { "one with \(describe($0))" }
                return "Expected a request with \(input), and \(others.isEmpty ? "none" : others.inWords) came"
            }
            // Taken only now: a wait that is cancelled must not take a request. Of several waits one gets it.
            let request: Request? = state.change { state in
                state.nextIndex(where: isWanted).map { state.take($0, at: place) }
            }
            if let request { return request }
        }
    }
}
