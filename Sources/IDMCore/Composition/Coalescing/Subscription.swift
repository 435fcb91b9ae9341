import Synchronization

/// A caller's share in a request. Made by ``SharedRequests/join(_:_:)``.
///
/// A subscription is a provider for one request. The input was given when it was made; that of the request is ignored.
/// It delivers the latest value so far and each later one, and keeps the values that have not been read. When the
/// requesting task is cancelled, it leaves and ends at once.
final class Subscription<Input: Sendable, Output: Sendable>: StreamDataProvider {
    private let id: SubscriptionID
    private let mailbox: Mailbox<any Sendable>
    private let requests: SharedRequests<Input, Output>
    private let hasStarted = Atomic(false)
    private let hasLeft = Atomic(false)

    init(_ id: SubscriptionID, mailbox: Mailbox<any Sendable>, of requests: SharedRequests<Input, Output>) {
        self.id = id
        self.mailbox = mailbox
        self.requests = requests
    }

    deinit { leave() }

    var deliversMany: Bool { requests.provider.stream != nil }

    func request(_ input: Input) async throws -> Output {
        var last: (any Sendable)?
        while let value = try await next(isolation: #isolation) { last = value }
        guard let last else { throw DataProviderError.noAnswer }
        return try typed(last)
    }

    func values(for input: Input) -> ProviderValues<Output> {
        ProviderValues {
            { isolation in try await self.next(isolation: isolation).map(self.typed) }
        }
    }

    /// Leaves the request. The last subscriber to leave before the answer cancels the run. Leaving twice does nothing.
    func leave() {
        // Most subscribers leave after their request, and again when their subscription is released.
        guard !hasLeft.exchange(true, ordering: .relaxed) else { return }
        mailbox.abandon { requests.leave(id) }
    }

    /// Starts the request if it has not been started, and returns the next value, or nil after the last.
    private func next(isolation: isolated (any Actor)?) async throws -> (any Sendable)? {
        if Task.isCancelled {
            leave()
        } else if !hasStarted.exchange(true, ordering: .relaxed) {
            let recipient = Recipient(
                mailbox: mailbox, reporter: IntegrationProgress.current, priority: Task.currentPriority)
            requests.start(id, as: recipient, isolation: isolation)
        }
        if let item = mailbox.poll() { return try item.get() }
        return try await LibraryTask.reactingToCancel {
            try await mailbox.next(isolation: isolation)
        } onCancel: {
            leave()
        }
    }

    private func typed(_ value: any Sendable) throws -> Output {
        guard let value = value as? Output else {
            assertionFailure("The values of one provider have one type.")
            throw DataProviderError.noAnswer
        }
        return value
    }
}
