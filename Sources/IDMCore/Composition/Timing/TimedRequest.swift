import Synchronization

/// One request with a time-out. The provider runs in a task of its own, so that the request can end without it.
final class TimedRequest<Output: Sendable>: Sendable {
    private let mailbox: Mailbox<Output>
    private let run: Task<Void, Never>
    private let timer: Task<Void, Never>?

    /// Starts the request on the caller's actor, and then the timer unless the answer has arrived.
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

    /// Returns the next value, or nil after the last.
    func next(isolation: isolated (any Actor)?) async throws -> Output? {
        var value: Output?
        defer { if value == nil { timer?.cancel() } }
        if let item = mailbox.poll() {
            value = try item.get()
        } else {
            value = try await LibraryTask.reactingToCancel {
                try await mailbox.next(isolation: isolation)
            } onCancel: {
                stop()
            }
        }
        return value
    }

    /// Cancels the provider and the timer, and then ends the wait for a value with `CancellationError`.
    func stop() {
        mailbox.abandon {
            run.cancel()
            timer?.cancel()
        }
    }
}
