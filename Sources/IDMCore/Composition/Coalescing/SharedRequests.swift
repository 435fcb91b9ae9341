/// Requests that share one run of a provider by key. Used by ``DataProvider/coalesced(by:)`` and `.only(joining: true)`.
///
/// A caller joins and gets a ``Subscription``. The provider is asked once, with the input of the first subscriber, by
/// the first one that starts, on that one's actor. It is cancelled when the last subscriber has left.
///
/// The lock holds keys, inputs and values with their types erased. A lock around a generic value would look up metadata
/// at each use, which takes half of the time (benchmark row "10,000 coalesced for one key").
final class SharedRequests<Key: Hashable & Sendable, Input: Sendable, Output: Sendable>: Sendable {
    let provider: any DataProvider<Input, Output>
    private let coordinator: SharedRequestCoordinator

    /// - Parameter closesWhenFinished: Whether a finished request can no longer be joined, though its answer has not
    ///   been read yet.
    init(provider: any DataProvider<Input, Output>, closesWhenFinished: Bool) {
        self.provider = provider
        coordinator = SharedRequestCoordinator(closesWhenFinished: closesWhenFinished)
    }

    /// True if there is no request.
    var isEmpty: Bool { coordinator.isEmpty }

    /// Joins the open request for `key`, or prepares a new one. The subscription leaves when it is released.
    func join(_ key: Key, _ input: Input) -> Subscription<Input, Output> {
        Subscription(subscribe(key, input), provider: provider)
    }

    /// Joins the open request for `key`, or prepares a new one. The subscriber must leave.
    func subscribe(_ key: Key, _ input: Input) -> Subscriber {
        coordinator.join(ErasedKey(key), input)
    }
}

/// A hashable key with its type erased. All keys of one coordinator have the same type.
struct ErasedKey: Hashable, Sendable {
    private let base: any Hashable & Sendable

    init(_ base: some Hashable & Sendable) {
        self.base = base
    }

    static func == (left: ErasedKey, right: ErasedKey) -> Bool {
        func isEqual<Key: Hashable>(_ key: Key) -> Bool { (right.base as? Key) == key }
        return isEqual(left.base)
    }

    func hash(into hasher: inout Hasher) {
        base.hash(into: &hasher)
    }
}

/// The lock around a ``SharedRequestStateMachine``, and the effects of its events.
final class SharedRequestCoordinator: Sendable {
    private typealias Machine = SharedRequestStateMachine<
        ErasedKey, any Sendable, any Sendable, Recipient, Task<Void, Never>
    >

    private let machine: Locked<Machine>

    init(closesWhenFinished: Bool) {
        machine = Locked(Machine(closesWhenFinished: closesWhenFinished))
    }

    var isEmpty: Bool { machine.withLock { $0.isEmpty } }

    func join(_ key: ErasedKey, _ input: any Sendable) -> Subscriber {
        machine.withLock { machine in
            machine.join(key, for: input) { id, history in
                let mailbox = Mailbox<any Sendable>(first: history.latest, ending: history.ending)
                return (Recipient(mailbox: mailbox), Subscriber(id, mailbox: mailbox, coordinator: self))
            }
        }
    }

    /// Starts the request of a subscriber, or raises the priority of the running one to the subscriber's.
    func start(
        _ id: SubscriptionID, as recipient: Recipient, _ provider: any DataProvider, isolation: isolated (any Actor)?
    ) {
        switch machine.withLock({ $0.start(id, as: recipient) }) {
        case .start(let input): start(provider, input, for: id, isolation: isolation)
        case .wait(let run?): escalate(run, for: recipient)
        case .wait(nil): break
        }
    }

    private func start<P: DataProvider>(
        _ provider: P, _ input: any Sendable, for id: SubscriptionID, isolation: isolated (any Actor)?
    ) {
        guard let input = input as? P.Input else {
            assertionFailure("The inputs of one provider have one type.")
            return finish(id.request, .failed(DataProviderError.noAnswer))
        }
        let run = PauseControl.unbind {
            LibraryTask.start(isolation: isolation) { isolation in
                await IntegrationProgress.Reporter(RequestListener(self, id.request)).ambient(isolation: isolation) {
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

    func leave(_ id: SubscriptionID) {
        machine.withLock { $0.leave(id) }?.cancelled?.cancel()
    }

    private func run<P: DataProvider>(
        _ provider: P, _ input: P.Input, _ id: Int, isolation: isolated (any Actor)?
    ) async {
        do {
            // The task may have been cancelled before it began.
            try Task.checkCancellation()
            var values = ProviderValues(of: provider, for: input).makeAsyncIterator()
            while let value = try await values.next(isolation: isolation) {
                for recipient in machine.withLock({ $0.deliver(value, id) }).to { recipient.mailbox.send(value) }
            }
            finish(id, .finished)
        } catch {
            finish(id, .failed(error))
        }
    }

    private func finish(_ id: Int, _ ending: MailboxEnding) {
        for recipient in machine.withLock({ $0.finish(id, ending) }) { recipient.mailbox.end(ending) }
    }

    fileprivate func report(_ progress: IntegrationProgress, from id: Int) {
        for recipient in machine.withLock({ $0.subscribers(of: id) }) { recipient.reporter?.send(progress) }
    }

    /// Forwards the progress of one request to its subscribers. Holds the coordinator weakly: a provider may keep its
    /// reporter for ever.
    private final class RequestListener: ProgressListener {
        private weak let coordinator: SharedRequestCoordinator?
        private let id: Int

        init(_ coordinator: SharedRequestCoordinator, _ id: Int) {
            self.coordinator = coordinator
            self.id = id
        }

        func hear(_ progress: IntegrationProgress) {
            coordinator?.report(progress, from: id)
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
