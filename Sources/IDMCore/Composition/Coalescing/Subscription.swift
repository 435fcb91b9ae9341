import Synchronization

/// A subscription in a request: one request's own part in a run that it shares with others. Made by ``SharedRequests/join(_:_:)``.
///
/// Itself a provider, to be asked once. The input was given with the subscription; the one that a request is made with isn't
/// looked at. A subscription delivers every value that comes while it is taken, first of all the latest one so far, and keeps
/// what hasn't been asked for. When the task that asks is cancelled, the subscription is left and the request ends at once.
final class Subscription<Input: Sendable, Output: Sendable>: StreamDataProvider {
    private let number: SubscriptionID
    private let mailbox: Mailbox<Output>
    private let host: any SubscriptionHost<Input, Output>
    private let hasAsked = Atomic(false)
    private let hasLeft = Atomic(false)

    init(_ number: SubscriptionID, mailbox: Mailbox<Output>, host: any SubscriptionHost<Input, Output>) {
        self.number = number
        self.mailbox = mailbox
        self.host = host
    }

    deinit { leave() }

    var deliversMany: Bool { host.provider.stream != nil }

    func request(_ input: Input) async throws -> Output {
        try await last(isolation: #isolation)
    }

    func values(for input: Input) -> ProviderValues<Output> {
        ProviderValues { SubscriptionCursor(subscription: self) }
    }

    /// Gives the subscription up. The last one to leave before the answer cancels the run. Leaving twice is leaving once.
    func leave() {
        // Most subscriptions are left by who has asked, and then once more when they go.
        guard !hasLeft.exchange(true, ordering: .relaxed) else { return }
        mailbox.abandon { host.leave(number) }
    }

    fileprivate func next(isolation: isolated (any Actor)?) async throws -> Output? {
        if Task.isCancelled {
            leave()
        } else if !hasAsked.exchange(true, ordering: .relaxed) {
            let subscriber = Subscriber(
                mailbox: mailbox, reporter: IntegrationProgress.current, urgency: Task.currentPriority)
            host.ask(number, as: subscriber, isolation: isolation)
        }
        if let item = mailbox.poll() { return try item.get() }
        return try await LibraryTask.hearingCancel {
            try await mailbox.next(isolation: isolation)
        } onCancel: {
            leave()
        }
    }

    private func last(isolation: isolated (any Actor)?) async throws -> Output {
        var last: Output?
        while let value = try await next(isolation: isolation) { last = value }
        guard let last else { throw DataProviderError.noAnswer }
        return last
    }
}

private struct SubscriptionCursor<Input: Sendable, Output: Sendable>: ValueCursor {
    let subscription: Subscription<Input, Output>

    mutating func next(isolation: isolated (any Actor)?) async throws -> Output? {
        try await subscription.next(isolation: isolation)
    }
}

/// Where a subscription's request is known.
protocol SubscriptionHost<Input, Output>: AnyObject, Sendable {
    associatedtype Input: Sendable
    associatedtype Output: Sendable

    var provider: any DataProvider<Input, Output> { get }

    func ask(_ subscription: SubscriptionID, as subscriber: Subscriber<Output>, isolation: isolated (any Actor)?)
    func leave(_ subscription: SubscriptionID)
}
