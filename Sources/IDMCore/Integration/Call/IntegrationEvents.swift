/// The events of a call, as a sequence.
///
/// ```swift
/// for await event in users.prepareCall("apple").events() {
///     if case .succeeded(let users) = event { list.show(users) }
/// }
/// ```
///
/// The call is made at the first `next()`, once for each iterator. Events that aren't awaited yet are kept, none is
/// lost. The sequence ends with the call; what is chained to the call goes on, and isn't heard here. Leaving the loop
/// before that cancels the call, and so does cancelling the task that awaits: the sequence then ends after the events
/// of that cancel, and in a task that is cancelled already no provider is asked. Wherever the loop is, the provider is
/// asked on no actor.
public struct IntegrationEvents<Output: Sendable>: AsyncSequence, Sendable {
    let call: IntegrationCall<Output>

    public func makeAsyncIterator() -> Iterator {
        Iterator(feed: EventFeed(call))
    }

    /// Walks through the events of one run.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let feed: EventFeed<Output>

        public mutating func next() async -> IntegrationEvent<Output>? {
            await feed.next()
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async -> IntegrationEvent<Output>? {
            await feed.next(isolation: actor)
        }
    }
}

@available(*, unavailable)
extension IntegrationEvents.Iterator: Sendable {}

extension IntegrationCall {
    /// The events of this call. Its own handlers run as well, before each event.
    public func events() -> IntegrationEvents<Output> {
        IntegrationEvents(call: self)
    }
}

/// Makes the call at the first `next()`, and cancels it when the iterator goes.
private final class EventFeed<Output: Sendable>: Sendable {
    private let call: IntegrationCall<Output>
    private let mailbox = Mailbox<IntegrationEvent<Output>>()
    private let task = Locked<IntegrationTask<Output>?>(nil)

    init(_ call: IntegrationCall<Output>) {
        self.call = call
    }

    deinit {
        if !mailbox.hasEnded { cancel() }
    }

    func next(isolation: isolated (any Actor)? = #isolation) async -> IntegrationEvent<Output>? {
        if task.withLock({ $0 == nil }) { start() }
        return await LibraryTask.hearingCancel {
            try? await mailbox.next(isolation: isolation)
        } onCancel: {
            cancel()
        }
    }

    /// Cancels the call, but not what is chained to it: that goes on wherever its reader stands.
    private func cancel() {
        task.withLock { $0 }?.handle.cancelBeforeEnd(isolation: nil)
    }

    private func start() {
        // The mailbox, and not the feed: the run must not keep alive what cancels it.
        let mailbox = mailbox
        let run =
            call
            .onBeginning { mailbox.send(.began) }
            .onProgress { mailbox.send(.progressed($0)) }
            .onRetry { mailbox.send(.retried(attempt: $0, after: $1)) }
            .onSuccess { mailbox.send(.succeeded($0)) }
            .onError { mailbox.send(.failed($0)) }
            .onCancel { mailbox.send(.cancelled($0)) }
            .onCompletion {
                mailbox.send(.completed)
                mailbox.end(.finished)
            }
            .callToAwait(isolation: nil)
        task.withLock { $0 = run }
        // A call that never began hears no completion.
        run.handle.life.whenFinished { mailbox.end(.finished) }
    }
}
