/// Values on their way from a task that makes them to the one who waits for them. Nothing that was sent is lost, and
/// whoever finds a value there doesn't suspend.
package final class Mailbox<Value: Sendable>: Sendable {
    private typealias Waiter = WatchedContinuation<Value?, any Error>

    private let state: Locked<MailboxStateMachine<Value, Waiter>>

    /// A mailbox in which something may lie from the start.
    package init(first: Value? = nil, ending: MailboxEnding? = nil) {
        var initial = MailboxStateMachine<Value, Waiter>()
        if let first { _ = initial.send(first) }
        if let ending { _ = initial.end(ending) }
        state = Locked(initial)
    }

    /// Puts one more value in. After the end it is dropped.
    package func send(_ value: Value) {
        perform(state.withLock { $0.send(value) })
    }

    /// Ends the values, after those that were sent. Returns false if they have ended before.
    @discardableResult
    package func end(_ ending: MailboxEnding) -> Bool {
        let (isFirst, action) = state.withLock { $0.end(ending) }
        perform(action)
        return isFirst
    }

    /// The reader goes away. It gets a `CancellationError` if it waits or asks again, and nothing is kept any more.
    ///
    /// - Parameter action: Happens in any case, once this is decided and before a reader that waits hears of it. What
    ///   it cancels may answer to that, and isn't heard.
    package func abandon(before action: () -> Void = {}) {
        let resuming = state.withLock { $0.abandon() }.0
        action()
        perform(resuming)
    }

    /// Whether nothing more will be sent.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// What lies there, without a wait.
    func poll() -> MailboxItem<Value>? {
        state.withLock { $0.poll() }
    }

    /// The next value, or nil after the last. One reader at a time. It doesn't hear a cancel: whoever waits sees to it
    /// that ``abandon(before:)`` is called then.
    package func next(isolation: isolated (any Actor)?) async throws -> Value? {
        if let item = poll() { return try item.get() }
        return try await LibraryTask.waitThrowing { continuation in
            perform(state.withLock { $0.wait(continuation) })
        }
    }

    /// Fills this mailbox with everything a provider answers.
    func fill<P: DataProvider>(
        from provider: P, _ input: P.Input, isolation: isolated (any Actor)?
    ) async where P.Output == Value {
        do {
            // Its turn may have come late.
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
