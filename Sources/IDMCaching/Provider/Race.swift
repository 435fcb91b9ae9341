internal import IDMCore

/// A read of the cache and a question to the provider, side by side. Who lets go of it cancels the question.
final class Race<Base: DataProvider, Store: CacheStore>: Sendable where Store.Value == Base.Output {
    enum Event: Sendable {
        case found(Lookup<Store.Value>)
        case answered(Result<Upstream<Base, Store>.Output, any Error>)
    }

    private let mailbox = Mailbox<Event>()
    private let question: Task<Void, Never>

    init(
        _ provider: CachedDataProvider<Base, Store>, _ visit: Visit<Base.Input, Store.Key, Store.Value>,
        isolation: isolated (any Actor)?
    ) {
        let mailbox = mailbox
        // The read first and at once, so that what is there is heard first.
        LibraryTask.startAtOnce(isolation: isolation) { _ in
            mailbox.send(.found(await provider.look(visit, inRace: true)))
        }
        question = LibraryTask.start(isolation: isolation) { _ in
            do {
                try Task.checkCancellation()
                mailbox.send(.answered(.success(try await provider.ask(visit))))
            } catch {
                mailbox.send(.answered(.failure(error)))
            }
        }
    }

    deinit {
        question.cancel()
    }

    /// What has come next. Nil once the task that waits is cancelled.
    func next(isolation: isolated (any Actor)? = #isolation) async -> Event? {
        await LibraryTask.reactingToCancel {
            try? await mailbox.next(isolation: isolation)
        } onCancel: {
            mailbox.abandon { question.cancel() }
        }
    }
}
