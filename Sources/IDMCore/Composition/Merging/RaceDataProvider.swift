import Synchronization

/// Two providers of which the first success is the answer. Made by ``DataProvider/race(with:)``.
public struct RaceDataProvider<First: DataProvider, Second: DataProvider>: DataProvider
where Second.Input == First.Input, Second.Output == First.Output {
    let first: First
    let second: Second

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

    public var structure: ProviderStructure {
        .branches("race", ["either": first.structure, "or": second.structure])
    }
}

/// One request of a race. Each provider runs in a task of its own, so that the loser need not be awaited.
private final class RaceRequest<Output: Sendable>: Sendable {
    private let mailbox = Mailbox<Output>()
    private let tasks = Locked([Task<Void, Never>]())
    private let failureCount = Atomic(0)

    func start<P: DataProvider>(_ provider: P, _ input: P.Input, isolation: isolated (any Actor)?)
    where P.Output == Output {
        guard !mailbox.hasEnded else { return }
        let task = LibraryTask.start(isolation: isolation) { isolation in
            _ = isolation
            do {
                // The race may have been decided before the task began.
                try Task.checkCancellation()
                self.mailbox.send(try await provider.request(input))
                if self.mailbox.end(.finished) { self.cancelTasks() }
            } catch {
                let isLast = self.failureCount.add(1, ordering: .relaxed).newValue == 2
                if isLast { self.mailbox.end(.failed(error)) }
            }
        }
        tasks.withLock { $0.append(task) }
        if mailbox.hasEnded { task.cancel() }
    }

    func answer(isolation: isolated (any Actor)?) async throws -> Output {
        guard let value = try await mailbox.next(isolation: isolation) else { throw DataProviderError.noAnswer }
        return value
    }

    func cancel() { mailbox.abandon { cancelTasks() } }

    private func cancelTasks() {
        for task in tasks.withLock({ $0 }) { task.cancel() }
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
        RaceDataProvider(first: self, second: rival)
    }
}
