import Synchronization

/// A caller's share in a request. Made by ``SharedRequests/join(_:_:)``.
///
/// A subscription is a provider for one request. The input was given when it was made; that of the request is ignored.
/// It delivers the latest value so far and each later one, and keeps the values that have not been read. When the
/// requesting task is cancelled, it leaves and ends at once.
final class Subscription<Input: Sendable, Output: Sendable>: StreamDataProvider {
    private let provider: any DataProvider<Input, Output>
    private let subscriber: Subscriber

    init(_ subscriber: Subscriber, provider: any DataProvider<Input, Output>) {
        self.subscriber = subscriber
        self.provider = provider
    }

    deinit { leave() }

    var deliversMany: Bool { provider.stream != nil }

    func request(_ input: Input) async throws -> Output {
        try await subscriber.lastValue(of: provider, isolation: #isolation)
    }

    func values(for input: Input) -> ProviderValues<Output> {
        ProviderValues { SubscriptionCursor(subscription: self) }
    }

    /// Leaves the request. The last subscriber to leave before the answer cancels the run. Leaving twice does nothing.
    func leave() {
        subscriber.leave()
    }

    fileprivate func next(isolation: isolated (any Actor)?) async throws -> Output? {
        subscriber.start(provider, isolation: isolation)
        return try await subscriber.next(isolation: isolation).map { try Subscriber.typed($0) }
    }
}

private struct SubscriptionCursor<Input: Sendable, Output: Sendable>: ValueCursor {
    let subscription: Subscription<Input, Output>

    mutating func next(isolation: isolated (any Actor)?) async throws -> Output? {
        try await subscription.next(isolation: isolation)
    }
}

/// One subscriber of a request, with the types of input and output erased.
final class Subscriber: Sendable {
    private let id: SubscriptionID
    private let mailbox: Mailbox<any Sendable>
    private let coordinator: SharedRequestCoordinator
    private let hasStarted = Atomic(false)
    private let hasLeft = Atomic(false)

    init(_ id: SubscriptionID, mailbox: Mailbox<any Sendable>, coordinator: SharedRequestCoordinator) {
        self.id = id
        self.mailbox = mailbox
        self.coordinator = coordinator
    }

    /// Starts the request if it has not been started. Leaves it if the current task is cancelled.
    func start(_ provider: any DataProvider, isolation: isolated (any Actor)?) {
        if Task.isCancelled {
            leave()
        } else if !hasStarted.exchange(true, ordering: .relaxed) {
            let recipient = Recipient(
                mailbox: mailbox, reporter: IntegrationProgress.current, priority: Task.currentPriority)
            coordinator.start(id, as: recipient, provider, isolation: isolation)
        }
    }

    /// Returns the next value, or nil after the last.
    func next(isolation: isolated (any Actor)?) async throws -> (any Sendable)? {
        if let item = mailbox.poll() { return try item.get() }
        return try await LibraryTask.reactingToCancel {
            try await mailbox.next(isolation: isolation)
        } onCancel: {
            leave()
        }
    }

    /// Starts the request, and returns its last value.
    func lastValue<Input, Output>(
        of provider: any DataProvider<Input, Output>, isolation: isolated (any Actor)?
    ) async throws -> Output {
        start(provider, isolation: isolation)
        var last: (any Sendable)?
        while let value = try await next(isolation: isolation) { last = value }
        guard let last else { throw DataProviderError.noAnswer }
        return try Self.typed(last)
    }

    /// Leaves the request. Leaving twice does nothing.
    func leave() {
        // Most subscribers leave after their request, and again when their subscription is released.
        guard !hasLeft.exchange(true, ordering: .relaxed) else { return }
        mailbox.abandon { coordinator.leave(id) }
    }

    static func typed<Output>(_ value: any Sendable) throws -> Output {
        guard let value = value as? Output else {
            assertionFailure("The values of one provider have one type.")
            throw DataProviderError.noAnswer
        }
        return value
    }
}
