/// A queue of values from a producing task to one reader. Keeps all values until they are read, and returns a present
/// value without a suspension.
package final class Mailbox<Value: Sendable>: Sendable {
    private typealias Waiter = TrackedContinuation<Value?, any Error>

    private let state: Locked<MailboxStateMachine<Value, Waiter>>

    /// Creates a mailbox, with a value and an end in it if given.
    package init(first: Value? = nil, ending: MailboxEnding? = nil) {
        var initial = MailboxStateMachine<Value, Waiter>()
        if let first { _ = initial.send(first) }
        if let ending { _ = initial.end(ending) }
        state = Locked(initial)
    }

    /// Adds a value. Does nothing after the end.
    package func send(_ value: Value) {
        perform(state.withLock { $0.send(value) })
    }

    /// Ends the mailbox after the values that were sent. Returns false if it has ended before.
    @discardableResult
    package func end(_ ending: MailboxEnding) -> Bool {
        let (isFirst, action) = state.withLock { $0.end(ending) }
        perform(action)
        return isFirst
    }

    /// Discards the values and ends the reader: waiting or reading again, it gets a `CancellationError`.
    ///
    /// - Parameter action: Called in any case, after the mailbox is closed and before a waiting reader resumes. Values
    ///   that it brings about are discarded.
    package func abandon(before action: () -> Void = {}) {
        let resuming = state.withLock { $0.abandon() }.0
        action()
        perform(resuming)
    }

    /// True after the end.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Returns the next item if one is present.
    func poll() -> MailboxItem<Value>? {
        state.withLock { $0.poll() }
    }

    /// Returns the next value, or nil after the last. For one reader at a time. It doesn't react to a cancel: the caller
    /// calls ``abandon(before:)`` then.
    package func next(isolation: isolated (any Actor)?) async throws -> Value? {
        if let item = poll() { return try item.get() }
        return try await LibraryTask.waitThrowing { continuation in
            perform(state.withLock { $0.wait(continuation) })
        }
    }

    /// Sends all values of a provider, and its end.
    func fill<P: DataProvider>(
        from provider: P, _ input: P.Input, isolation: isolated (any Actor)?
    ) async where P.Output == Value {
        do {
            // The task may have been cancelled before it began.
            try Task.checkCancellation()
            var values = ProviderValues(of: provider, for: input).makeAsyncIterator()
            while let value = try await values.next(isolation: isolation) { send(value) }
            end(.finished)
        } catch {
            end(.failed(error))
        }
    }

    private func perform(_ action: MailboxStateMachine<Value, Waiter>.Action) {
        switch action {
        case .none: break
        case .resume(let waiter, let item): waiter.resume(with: item)
        }
    }
}
