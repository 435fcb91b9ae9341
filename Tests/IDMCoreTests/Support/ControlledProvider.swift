import IDMCore

/// A provider whose requests wait until the test ends them.
final class ControlledProvider<Input: Sendable, Output: Sendable>: DataProvider {
    private struct State {
        var requests: [ControlledRequest<Input, Output>] = []
        var handedOut = 0
    }

    private let state = Watched(State())
    private let isDeaf: Bool

    /// A deaf provider goes on waiting for the test when it is cancelled.
    init(deaf: Bool = false) {
        isDeaf = deaf
    }

    /// How many requests have been made so far.
    var requestCount: Int { state.value.requests.count }

    func request(_ input: Input) async throws -> Output {
        let request = ControlledRequest<Input, Output>(input: input, deaf: isDeaf)
        state.change { $0.requests.append(request) }
        return try await request.result()
    }

    /// Waits for the earliest request that the test hasn't got yet.
    func nextRequest() async throws -> ControlledRequest<Input, Output> {
        let index = state.change { state in
            state.handedOut += 1
            return state.handedOut - 1
        }
        try await state.wait { $0.requests.count > index }
        return state.value.requests[index]
    }
}

/// One request of a ``ControlledProvider``.
final class ControlledRequest<Input: Sendable, Output: Sendable>: Sendable {
    private struct State {
        var result: Result<Output, any Error>?
        var isCancelled = false
        var isEnded = false
    }

    let input: Input
    /// What the provider found as the ambient reporter.
    let reporter: IntegrationProgress.Reporter?
    private let state = Watched(State())
    private let isDeaf: Bool

    init(input: Input, deaf: Bool) {
        self.input = input
        isDeaf = deaf
        reporter = IntegrationProgress.current
    }

    var isCancelled: Bool { state.value.isCancelled }

    /// Ends the request. Only the first end counts.
    func answer(_ output: Output) { end(.success(output)) }
    func fail(_ error: any Error) { end(.failure(error)) }

    /// Waits until the request's task is cancelled.
    func cancelled() async throws {
        try await state.wait { $0.isCancelled }
    }

    /// Waits until the request has returned or thrown.
    func ended() async throws {
        try await state.wait { $0.isEnded }
    }

    private func end(_ result: Result<Output, any Error>) {
        state.change { state in
            if state.result == nil { state.result = result }
        }
    }

    fileprivate func result() async throws -> Output {
        defer { state.change { $0.isEnded = true } }
        let isDeaf = isDeaf
        try await withTaskCancellationHandler {
            try await state.wait(deaf: true) { $0.result != nil || ($0.isCancelled && !isDeaf) }
        } onCancel: {
            state.change { $0.isCancelled = true }
        }
        guard let result = state.value.result else { throw CancellationError() }
        return try result.get()
    }
}

extension ControlledRequest where Output == Void {
    func answer() { answer(()) }
}
