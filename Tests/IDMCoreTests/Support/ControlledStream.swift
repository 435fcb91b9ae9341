import IDMCore

/// A stream whose values come when the test sends them.
final class ControlledStream<Input: Sendable, Output: Sendable>: StreamDataProvider {
    private struct State {
        var requests: [ControlledStreamRequest<Input, Output>] = []
        var handedOut = 0
    }

    private let state = Watched(State())
    private let isDeaf: Bool

    /// A deaf stream goes on waiting for the test when it is cancelled.
    init(deaf: Bool = false) {
        isDeaf = deaf
    }

    /// How many sequences have been asked for their first value so far.
    var requestCount: Int { state.value.requests.count }

    func values(for input: Input) -> Values {
        Values { [state, isDeaf] in
            let request = ControlledStreamRequest<Input, Output>(input: input, deaf: isDeaf)
            state.change { $0.requests.append(request) }
            return request
        }
    }

    /// Waits for the earliest request that the test hasn't got yet.
    func nextRequest() async throws -> ControlledStreamRequest<Input, Output> {
        let index = state.change { state in
            state.handedOut += 1
            return state.handedOut - 1
        }
        try await state.wait { $0.requests.count > index }
        return state.value.requests[index]
    }

    struct Values: AsyncSequence {
        fileprivate let start: @Sendable () -> ControlledStreamRequest<Input, Output>

        func makeAsyncIterator() -> Iterator { Iterator(start: start) }

        struct Iterator: AsyncIteratorProtocol {
            fileprivate let start: @Sendable () -> ControlledStreamRequest<Input, Output>
            private var request: ControlledStreamRequest<Input, Output>?

            fileprivate init(start: @escaping @Sendable () -> ControlledStreamRequest<Input, Output>) {
                self.start = start
            }

            mutating func next() async throws -> Output? {
                try await next(isolation: #isolation)
            }

            mutating func next(isolation: isolated (any Actor)?) async throws -> Output? {
                let request = request ?? start()
                self.request = request
                return try await request.next(isolation: isolation)
            }
        }
    }
}

/// One request of a ``ControlledStream``.
final class ControlledStreamRequest<Input: Sendable, Output: Sendable>: Sendable {
    private struct State {
        var values: [Output] = []
        var end: Result<Void, any Error>?
        var isCancelled = false
    }

    let input: Input
    /// What the stream found as the ambient reporter at its first value.
    let reporter: IntegrationProgress.Reporter?
    private let state = Watched(State())
    private let isDeaf: Bool

    init(input: Input, deaf: Bool) {
        self.input = input
        isDeaf = deaf
        reporter = IntegrationProgress.current
    }

    var isCancelled: Bool { state.value.isCancelled }

    /// Sends one more value.
    func send(_ value: Output) {
        state.change { state in
            if state.end == nil { state.values.append(value) }
        }
    }

    /// Ends the stream, after the values sent so far. Only the first end counts.
    func finish() { end(.success(())) }
    func fail(_ error: any Error) { end(.failure(error)) }

    /// Waits until the task that waits for a value is cancelled.
    func cancelled() async throws {
        try await state.wait { $0.isCancelled }
    }

    private func end(_ result: Result<Void, any Error>) {
        state.change { state in
            if state.end == nil { state.end = result }
        }
    }

    fileprivate func next(isolation: isolated (any Actor)?) async throws -> Output? {
        let isDeaf = isDeaf
        try await withTaskCancellationHandler {
            try await state.wait(deaf: true) { state in
                !state.values.isEmpty || state.end != nil || (state.isCancelled && !isDeaf)
            }
        } onCancel: {
            state.change { $0.isCancelled = true }
        }
        return try state.change { state -> Result<Output?, any Error> in
            if !state.values.isEmpty { return .success(state.values.removeFirst()) }
            switch state.end {
            case .success: return .success(nil)
            case .failure(let error): return .failure(error)
            case nil: return .failure(CancellationError())
            }
        }.get()
    }
}
