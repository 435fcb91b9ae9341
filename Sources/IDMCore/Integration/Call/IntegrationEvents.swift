/// An event of a call, in the order of the call contract.
public enum IntegrationEvent<Output: Sendable>: Sendable {
    /// The call has started.
    case began
    /// The call has made progress.
    case progressed(IntegrationProgress)
    /// The provider is asked again: the number of the retry, from 1, and the error that caused it.
    case retried(attempt: Int, after: any Error)
    /// The provider returned a value.
    case succeeded(Output)
    /// The call ended with an error.
    case failed(any Error)
    /// The call ended without a result.
    case cancelled(CancelReason)
    /// A call that had started has ended.
    case completed
}

/// The events of a call, as a sequence.
///
/// ```swift
/// for await event in users.prepareCall("apple").events() {
///     if case .succeeded(let users) = event { list.show(users) }
/// }
/// ```
///
/// Each iterator starts the call at its first `next()`. Events are buffered without limit. The sequence ends with the call;
/// calls that are chained to it continue and are not part of the sequence.
///
/// Leaving the loop early cancels the call. So does cancelling the task of the loop: the sequence then ends after the
/// events of that cancel. The provider is asked on no actor.
public struct IntegrationEvents<Output: Sendable>: AsyncSequence, Sendable {
    let call: IntegrationCall<Output>

    public func makeAsyncIterator() -> Iterator {
        Iterator(feed: EventFeed(call))
    }

    /// Iterates over the events of one execution of the call.
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

/// The values of a call, as a sequence that throws the call's error.
///
/// ```swift
/// for try await users in users.prepareCall("apple").values() { list.show(users) }
/// ```
///
/// A call that ends without a result throws ``IntegrationError/cancelled(_:)``. Otherwise the rules of
/// ``IntegrationEvents`` apply.
public struct IntegrationValues<Output: Sendable>: AsyncSequence, Sendable {
    let events: IntegrationEvents<Output>

    public func makeAsyncIterator() -> Iterator {
        Iterator(events: events.makeAsyncIterator())
    }

    /// Iterates over the values of one execution of the call.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var events: IntegrationEvents<Output>.Iterator

        public mutating func next() async throws -> Output? {
            try await next(isolation: #isolation)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Output? {
            while let event = await events.next(isolation: actor) {
                switch event {
                case .succeeded(let value): return value
                case .failed(let error): throw error
                case .cancelled(let reason):
                    try Task.checkCancellation()
                    throw IntegrationError.cancelled(reason)
                case .began, .progressed, .retried, .completed: continue
                }
            }
            return nil
        }
    }
}

@available(*, unavailable)
extension IntegrationEvents.Iterator: Sendable {}

@available(*, unavailable)
extension IntegrationValues.Iterator: Sendable {}

extension IntegrationCall {
    /// Returns the events of this call. Its own handlers run as well, before each event.
    public func events() -> IntegrationEvents<Output> {
        IntegrationEvents(call: self)
    }

    /// Returns the values of this call. Its own handlers run as well, before each value.
    public func values() -> IntegrationValues<Output> {
        IntegrationValues(events: events())
    }
}

/// Starts the call at the first `next()`, and cancels it when the iterator is released.
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
        return await LibraryTask.reactingToCancel {
            try? await mailbox.next(isolation: isolation)
        } onCancel: {
            cancel()
        }
    }

    private func cancel() {
        task.withLock { $0 }?.execution.cancelBeforeEnd(isolation: nil)
    }

    private func start() {
        // The handlers capture the mailbox and not the feed, whose release cancels the call.
        let mailbox = mailbox
        let started =
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
        task.withLock { $0 = started }
        // A call that never started has no completion event.
        started.execution.whenFinished { mailbox.end(.finished) }
    }
}
