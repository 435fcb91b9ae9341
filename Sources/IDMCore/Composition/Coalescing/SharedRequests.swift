/// Requests that share one run of a provider. Used by ``DataProvider/coalesced(by:)`` and by `.only(joining: true)`.
///
/// Whoever joins gets a ``Subscription``. The provider is asked once a request, with the input of the first subscriber, by the
/// first that asks, on that one's actor, and hears a cancel when the last subscriber has left.
final class SharedRequests<Key: Hashable & Sendable, Input: Sendable, Output: Sendable>: SubscriptionHost {
    typealias Machine = SharedRequestStateMachine<Key, Input, Output, Subscriber<Output>, Task<Void, Never>>

    let provider: any DataProvider<Input, Output>
    private let machine: Locked<Machine>

    /// - Parameter closesWhenFinished: Whether what is asked after the answer is asked anew, though nobody has heard it
    ///   yet.
    init(provider: any DataProvider<Input, Output>, closesWhenFinished: Bool) {
        self.provider = provider
        machine = Locked(Machine(closesWhenFinished: closesWhenFinished))
    }

    /// Whether no request is known any more.
    var isEmpty: Bool { machine.withLock { $0.isEmpty } }

    /// Takes a subscription in the request of a key: the one that can be joined, or a new one.
    func join(_ key: Key, _ input: Input) -> Subscription<Input, Output> {
        machine.withLock { machine in
            machine.join(key, for: input) { number, history in
                let mailbox = Mailbox(first: history.latest, ending: history.ending)
                let subscription = Subscription(number, mailbox: mailbox, host: self)
                return (Subscriber(mailbox: mailbox), subscription)
            }
        }
    }

    func ask(
        _ subscription: SubscriptionID, as subscriber: Subscriber<Output>, isolation: isolated (any Actor)?
    ) {
        switch machine.withLock({ $0.ask(subscription, as: subscriber) }) {
        case .start(let input): start(input, for: subscription, isolation: isolation)
        case .wait(let run?): escalate(run, for: subscriber)
        case .wait(nil): break
        }
    }

    private func start(_ input: Input, for subscription: SubscriptionID, isolation: isolated (any Actor)?) {
        let id = subscription.request
        let run = PauseControl.unbind {
            LibraryTask.start(isolation: isolation) { isolation in
                await IntegrationProgress.Reporter(RequestListener(self, id)).ambient(isolation: isolation) {
                    await self.runProvider(self.provider, input, id, isolation: isolation)
                }
            }
        }
        let (cancelled, otherSubscribers) = machine.withLock {
            ($0.started(id, run), $0.otherSubscribers(of: subscription))
        }
        cancelled?.cancel()
        // They may have asked before the run was known.
        for subscriber in otherSubscribers { escalate(run, for: subscriber) }
    }

    /// Who joins is not to wait for something less urgent than itself.
    private func escalate(_ run: Task<Void, Never>, for subscriber: Subscriber<Output>) {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        if let urgency = subscriber.urgency { run.escalatePriority(to: urgency) }
    }

    func leave(_ subscription: SubscriptionID) {
        machine.withLock { $0.leave(subscription) }?.cancelled?.cancel()
    }

    private func runProvider<P: DataProvider<Input, Output>>(
        _ provider: P, _ input: Input, _ id: Int, isolation: isolated (any Actor)?
    ) async {
        do {
            // Its turn may have come late.
            try Task.checkCancellation()
            var values = ProviderValues(of: provider, for: input).makeAsyncIterator()
            while let value = try await values.next(isolation: isolation) {
                for subscriber in machine.withLock({ $0.deliver(value, id) }).to { subscriber.mailbox.send(value) }
            }
            finish(id, .finished)
        } catch {
            finish(id, .failed(error))
        }
    }

    private func finish(_ id: Int, _ ending: MailboxEnding) {
        for subscriber in machine.withLock({ $0.finish(id, ending) }) { subscriber.mailbox.end(ending) }
    }

    fileprivate func hear(_ progress: IntegrationProgress, from id: Int) {
        for subscriber in machine.withLock({ $0.subscribers(of: id) }) { subscriber.reporter?.send(progress) }
    }

    /// Passes the progress of one request on to whoever sits in it. Doesn't hold the requests: a provider may keep its
    /// reporter for ever.
    private final class RequestListener: ProgressListener {
        private weak let sharedRequests: SharedRequests?
        private let id: Int

        init(_ sharedRequests: SharedRequests, _ id: Int) {
            self.sharedRequests = sharedRequests
            self.id = id
        }

        func hear(_ progress: IntegrationProgress) {
            sharedRequests?.hear(progress, from: id)
        }
    }
}

/// Where a request delivers to.
struct Subscriber<Output: Sendable>: Sendable {
    let mailbox: Mailbox<Output>
    // Known once it has asked.
    var reporter: IntegrationProgress.Reporter?
    var urgency: TaskPriority?
}
