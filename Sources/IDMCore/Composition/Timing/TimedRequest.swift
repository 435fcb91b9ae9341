import Synchronization

/// One request beside a deadline. The provider runs in a task of its own, so that one that ignores its cancellation can
/// be left behind.
final class TimedRequest<Output: Sendable>: Sendable {
    private let mailbox: Mailbox<Output>
    private let run: Task<Void, Never>
    private let timer: Task<Void, Never>?

    /// Asks the provider, on the caller's actor, and starts the time unless the answer is there.
    init<P: DataProvider>(
        _ provider: P, _ input: P.Input, duration: Duration, clock: any Clock<Duration>,
        isolation: isolated (any Actor)?
    ) where P.Output == Output {
        let mailbox = Mailbox<Output>()
        let alarm = clock.alarm(after: duration)
        let run = LibraryTask.start(clock: clock, isolation: isolation) { isolation in
            await mailbox.fill(from: provider, input, isolation: isolation)
        }
        self.mailbox = mailbox
        self.run = run
        guard !mailbox.hasEnded else {
            timer = nil
            return
        }
        timer = LibraryTask.startAtOnce(clock: clock, isolation: nil) { _ in
            guard (try? await alarm()) != nil else { return }
            if mailbox.end(.failed(DataProviderError.timedOut(after: duration))) { run.cancel() }
        }
    }

    deinit { stop() }

    /// The next value, or nil after the last.
    func next(isolation: isolated (any Actor)?) async throws -> Output? {
        if let item = mailbox.poll() { return try end(item) }
        do {
            let value = try await LibraryTask.hearingCancel {
                try await mailbox.next(isolation: isolation)
            } onCancel: {
                stop()
            }
            return try end(.success(value))
        } catch {
            return try end(.failure(error))
        }
    }

    /// Cancels the provider and the time. Whoever waits gets a `CancellationError` once both have been told.
    func stop() {
        mailbox.abandon {
            run.cancel()
            timer?.cancel()
        }
    }

    private func end(_ item: MailboxItem<Output>) throws -> Output? {
        if case .success(.some(let value)) = item { return value }
        timer?.cancel()
        return try item.get()
    }
}
