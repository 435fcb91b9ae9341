import Synchronization

/// The events of a call, as a sequence.
///
/// ```swift
/// for await event in users.prepareCall("apple").events() {
///     if case .succeeded(let users) = event { list.show(users) }
/// }
/// ```
///
/// The call is made at the first `next()`, once for each iterator. Events that aren't awaited yet are kept, none is lost.
/// Leaving the loop cancels the call, and so does cancelling the task that awaits: the sequence then ends after the events
/// of that cancel.
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
            await feed.next()
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
    private let buffer = EventBuffer<Output>()
    private let task = Mutex<IntegrationTask<Output>?>(nil)

    init(_ call: IntegrationCall<Output>) {
        self.call = call
    }

    deinit {
        // After the end there is only the chain left to cancel, and that goes on by itself.
        if !buffer.isOver { task.withLock { $0 }?.cancel() }
    }

    func next() async -> IntegrationEvent<Output>? {
        if task.withLock({ $0 == nil }) { start() }
        return await withTaskCancellationHandler {
            await buffer.next()
        } onCancel: {
            task.withLock { $0 }?.cancel()
        }
    }

    private func start() {
        // The buffer, and not the feed: the run must not keep alive what cancels it.
        let buffer = buffer
        let run =
            call
            .onBeginning { buffer.push(.began) }
            .onProgress { buffer.push(.progressed($0)) }
            .onRetry { buffer.push(.retried(attempt: $0, after: $1)) }
            .onSuccess { buffer.push(.succeeded($0)) }
            .onError { buffer.push(.failed($0)) }
            .onCancel { buffer.push(.cancelled($0)) }
            .onCompletion { buffer.push(.completed) }
            .call(isolation: nil)
        task.withLock { $0 = run }
    }
}

/// Keeps events until they are asked for. There is one consumer.
private final class EventBuffer<Output: Sendable>: Sendable {
    private typealias Event = IntegrationEvent<Output>

    private struct State {
        var events: [Event] = []
        var hasBegun = false
        var isOver = false
        var waiter: UnsafeContinuation<Event?, Never>?
    }

    private let state = Mutex(State())

    /// Whether the last event has come, heard or not.
    var isOver: Bool { state.withLock { $0.isOver } }

    func push(_ event: IntegrationEvent<Output>) {
        let waiter = state.withLock { state -> UnsafeContinuation<Event?, Never>? in
            switch event {
            case .began: state.hasBegun = true
            case .completed: state.isOver = true
            // A call that never began hears of nothing after its cancel.
            case .cancelled: state.isOver = !state.hasBegun
            default: break
            }
            guard let waiter = state.waiter else {
                state.events.append(event)
                return nil
            }
            state.waiter = nil
            return waiter
        }
        waiter?.resume(returning: event)
    }

    func next() async -> IntegrationEvent<Output>? {
        await withUnsafeContinuation { continuation in
            let event: Event?? = state.withLock { state in
                if !state.events.isEmpty { return .some(state.events.removeFirst()) }
                if state.isOver { return .some(nil) }
                state.waiter = continuation
                return nil
            }
            if let event { continuation.resume(returning: event) }
        }
    }
}
