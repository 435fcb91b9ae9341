/// Requests that share one run of a provider by key. Used by ``DataProvider/coalesced(by:)`` and `.only(joining: true)`.
///
/// A caller joins and gets a ``Subscription``. The provider is asked once, with the input of the first subscriber, by
/// the first one that starts, on that one's actor. It is cancelled when the last subscriber has left.
///
/// The lock holds keys, inputs and values with their types erased. A lock around a generic value would look up metadata
/// at each use, which takes half of the time (benchmark row "10,000 coalesced for one key").
final class SharedRequests<Input: Sendable, Output: Sendable>: Sendable {
    let provider: any DataProvider<Input, Output>
    private let machine:
        Locked<SharedRequestStateMachine<ErasedKey, any Sendable, any Sendable, Recipient, Task<Void, Never>>>

    /// - Parameter closesWhenFinished: Whether a finished request can no longer be joined, though its answer has not
    ///   been read yet.
    init(provider: any DataProvider<Input, Output>, closesWhenFinished: Bool) {
        self.provider = provider
        machine = Locked(SharedRequestStateMachine(closesWhenFinished: closesWhenFinished))
    }

    /// True if there is no request.
    var isEmpty: Bool { machine.withLock { $0.isEmpty } }

    /// Joins the open request for `key`, or prepares a new one. The subscription leaves when it is released.
    func join(_ key: some Hashable & Sendable, _ input: Input) -> Subscription<Input, Output> {
        let key = ErasedKey(base: key)
        let (id, mailbox) = machine.withLock { machine in
            machine.join(key, for: input) { id, history in
                let mailbox = Mailbox<any Sendable>(first: history.latest, ending: history.ending)
                return (Recipient(mailbox: mailbox), (id, mailbox))
            }
        }
        return Subscription(id, mailbox: mailbox, of: self)
    }

    /// Starts the request of a subscriber, or raises the priority of the running one to the subscriber's.
    func start(_ id: SubscriptionID, as recipient: Recipient, isolation: isolated (any Actor)?) {
        switch machine.withLock({ $0.start(id, as: recipient) }) {
        case .start(let input):
            guard let input = input as? Input else { return assertionFailure("All inputs have one type.") }
            start(provider, input, for: id, isolation: isolation)
        case .wait(let run?): escalate(run, for: recipient)
        case .wait(nil): break
        }
    }

    private func start<P: DataProvider<Input, Output>>(
        _ provider: P, _ input: Input, for id: SubscriptionID, isolation: isolated (any Actor)?
    ) {
        let run = PauseControl.unbind {
            LibraryTask.start(isolation: isolation) { isolation in
                await IntegrationProgress.Reporter(RequestListener(requests: self, id: id.request)).ambient(
                    isolation: isolation
                ) {
                    await self.run(provider, input, id.request, isolation: isolation)
                }
            }
        }
        let (cancelled, others) = machine.withLock { ($0.started(id.request, run), $0.otherSubscribers(of: id)) }
        cancelled?.cancel()
        // They may have subscribed before the run was known.
        for recipient in others { escalate(run, for: recipient) }
    }

    /// Raises the priority of the run to that of a subscriber that waits for it.
    private func escalate(_ run: Task<Void, Never>, for recipient: Recipient) {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        if let priority = recipient.priority { run.escalatePriority(to: priority) }
    }

    func leave(_ id: SubscriptionID) { machine.withLock { $0.leave(id) }?.cancelled?.cancel() }

    private func run<P: DataProvider<Input, Output>>(
        _ provider: P, _ input: Input, _ id: Int, isolation: isolated (any Actor)?
    ) async {
        var ending = MailboxEnding.finished
        do {
            // The task may have been cancelled before it began.
            try Task.checkCancellation()
            var values = ProviderValues(of: provider, for: input).makeAsyncIterator()
            while let value = try await values.next(isolation: isolation) {
                for recipient in machine.withLock({ $0.deliver(value, id) }).to { recipient.mailbox.send(value) }
            }
        } catch {
            ending = .failed(error)
        }
        for recipient in machine.withLock({ $0.finish(id, ending) }) { recipient.mailbox.end(ending) }
    }

    /// Forwards the progress of one request to its subscribers. Holds the requests weakly: a provider may keep its
    /// reporter for ever.
    private final class RequestListener: ProgressListener {
        private weak let requests: SharedRequests?
        private let id: Int

        init(requests: SharedRequests?, id: Int) {
            self.requests = requests
            self.id = id
        }

        func hear(_ progress: IntegrationProgress) {
            guard let requests else { return }
            for recipient in requests.machine.withLock({ $0.subscribers(of: id) }) {
                recipient.reporter?.send(progress)
            }
        }
    }
}

/// The destination of a shared request's events.
struct Recipient: Sendable {
    let mailbox: Mailbox<any Sendable>
    // Known once the subscriber has started the request.
    var reporter: IntegrationProgress.Reporter?
    var priority: TaskPriority?
}

/// A hashable key with its type erased.
struct ErasedKey: Hashable, Sendable {
    let base: any Hashable & Sendable

    static func == (left: ErasedKey, right: ErasedKey) -> Bool {
        func isEqual<Key: Hashable>(_ key: Key) -> Bool { (right.base as? Key) == key }
        return isEqual(left.base)
    }

    func hash(into hasher: inout Hasher) { base.hash(into: &hasher) }
}
