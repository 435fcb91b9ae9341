/// Two providers of which the first success is the answer. Made by ``DataProvider/race(with:)``.
public struct RaceDataProvider<First: DataProvider, Second: DataProvider>: DataProvider
where Second.Input == First.Input, Second.Output == First.Output {
    private let first: First
    private let second: Second

    init(_ first: First, _ second: Second) {
        self.first = first
        self.second = second
    }

    /// Makes a request of both, and returns the first answer.
    public func request(_ input: First.Input) async throws -> First.Output {
        try Task.checkCancellation()
        let race = RaceRequest<First.Output>()
        return try await LibraryTask.reactingToCancel {
            race.start(first, input, isolation: #isolation)
            race.start(second, input, isolation: #isolation)
            return try await race.answer(isolation: #isolation)
        } onCancel: {
            race.cancel()
        }
    }

    /// The two providers.
    public var structure: ProviderStructure {
        .branches("race", ["either": first.structure, "or": second.structure])
    }
}

/// One request of a race. Each provider runs in a task of its own, so that the loser need not be awaited.
private final class RaceRequest<Output: Sendable>: Sendable {
    private struct State {
        var tasks: [Task<Void, Never>] = []
        var failureCount = 0
    }

    private let mailbox = Mailbox<Output>()
    private let state = Locked(State())

    func start<P: DataProvider>(_ provider: P, _ input: P.Input, isolation: isolated (any Actor)?)
    where P.Output == Output {
        guard !mailbox.hasEnded else { return }
        let task = LibraryTask.start(isolation: isolation) { isolation in
            _ = isolation
            do {
                // The race may have been decided before the task began.
                try Task.checkCancellation()
                self.finish(with: try await provider.request(input))
            } catch {
                self.fail(error)
            }
        }
        state.withLock { $0.tasks.append(task) }
        if mailbox.hasEnded { task.cancel() }
    }

    func answer(isolation: isolated (any Actor)?) async throws -> Output {
        guard let value = try await mailbox.next(isolation: isolation) else { throw DataProviderError.noAnswer }
        return value
    }

    func cancel() {
        mailbox.abandon { cancelTasks() }
    }

    private func finish(with value: Output) {
        mailbox.send(value)
        if mailbox.end(.finished) { cancelTasks() }
    }

    private func fail(_ error: any Error) {
        let areBothFailed = state.withLock { state in
            state.failureCount += 1
            return state.failureCount == 2
        }
        if areBothFailed { mailbox.end(.failed(error)) }
    }

    private func cancelTasks() {
        for task in state.withLock({ $0.tasks }) { task.cancel() }
    }
}

extension DataProvider {
    /// Returns a provider that asks this one and `rival` at the same time, and answers with the first success.
    ///
    /// The loser is cancelled. If it ignores the cancel, it is not awaited and its answer is discarded. If both fail,
    /// the request throws the error of the one that failed last. Cancelling the request cancels both and ends it at
    /// once. On an actor, if this provider answers in the caller's turn, `rival` is not asked.
    ///
    /// The result is not a stream: of a provider that delivers many values the last one counts. Progress of both is
    /// reported.
    public func race<Rival: DataProvider>(
        with rival: Rival
    ) -> RaceDataProvider<Self, Rival> where Rival.Input == Input, Rival.Output == Output {
        RaceDataProvider(self, rival)
    }
}
