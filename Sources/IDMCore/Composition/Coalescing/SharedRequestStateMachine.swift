/// A subscription in one request.
struct SubscriptionID: Hashable, Sendable {
    let request: Int
    let number: Int
}

/// Who sits in which request: what ``SharedRequests`` does, without the doing.
///
/// A request is one run of a provider for everybody who asks for the same key. It starts when the first subscriber asks,
/// and is cancelled when the last one leaves. It can be joined until its key is free for the next request: once
/// everybody has left, or once it has landed, or only when somebody has left after that.
struct SharedRequestStateMachine<Key: Hashable, Order, Value, Subscriber, Work> {
    /// What a subscriber who joins late has missed.
    struct History {
        var latest: Value?
        var ending: MailboxEnding?
    }

    fileprivate enum Phase {
        /// Nobody has asked yet. Whoever does first, what the first subscriber came for is what is asked.
        case idle(Order)
        /// On the way; nil until the run is known.
        case running(Work?)
        case finished
    }

    struct Request {
        let key: Key
        fileprivate var phase: Phase
        var history = History()
        var subscribers: [Int: Subscriber] = [:]
        var lastSubscription = 0

        var hasFinished: Bool { if case .finished = phase { true } else { false } }
        /// What is on the way, if that is known.
        var run: Work? { if case .running(let run) = phase { run } else { nil } }
    }

    /// What nobody needs any more, to be let go of where no lock is held.
    struct Removal {
        let subscriber: Subscriber
        /// Nobody is left in it.
        let request: Request?

        /// The run that is to be cancelled.
        var cancelled: Work? { request?.run }
    }

    private var requests: [Int: Request] = [:]
    private var joinable: [Key: Int] = [:]
    private var lastRequest = 0
    private let closesWhenFinished: Bool

    /// - Parameter closesWhenFinished: Whether nobody joins a request that has landed, though nobody has left it. True
    ///   where what is asked after the answer is to be asked anew, false where the run isn't over before somebody has
    ///   heard it.
    init(closesWhenFinished: Bool) {
        self.closesWhenFinished = closesWhenFinished
    }

    /// Whether nobody sits anywhere.
    var isEmpty: Bool { requests.isEmpty && joinable.isEmpty }

    /// Takes a subscription in the key's request, or in a new one.
    mutating func join<R>(_ key: Key, for order: Order, _ subscriber: (SubscriptionID, History) -> (Subscriber, R)) -> R
    {
        let id = joinable[key] ?? open(key, for: order)
        let number = (requests[id]?.lastSubscription ?? 0) + 1
        let (subscribed, result) = subscriber(
            SubscriptionID(request: id, number: number), requests[id]?.history ?? History())
        // In place: a copy of all who sit there, for each who joins, would make many dear.
        requests[id]?.lastSubscription = number
        requests[id]?.subscribers[number] = subscribed
        return result
    }

    private mutating func open(_ key: Key, for order: Order) -> Int {
        lastRequest += 1
        // A key that doesn't equal itself, as a number that is none, would never be found again.
        if key == key { joinable[key] = lastRequest }
        requests[lastRequest] = Request(key: key, phase: .idle(order))
        return lastRequest
    }

    /// What a subscriber who asks is to do.
    enum Turn {
        /// Start the request, for what its first subscriber came for.
        case start(Order)
        /// Wait for what is on the way, if it is known.
        case wait(for: Work?)
    }

    /// A subscriber asks, and may have changed since it took the subscription.
    mutating func ask(_ subscription: SubscriptionID, as subscriber: Subscriber) -> Turn {
        guard requests[subscription.request]?.subscribers[subscription.number] != nil else { return .wait(for: nil) }
        requests[subscription.request]?.subscribers[subscription.number] = subscriber
        guard case .idle(let order) = requests[subscription.request]?.phase else {
            return .wait(for: requests[subscription.request]?.run)
        }
        requests[subscription.request]?.phase = .running(nil)
        return .start(order)
    }

    /// The run of a request is known. Returns it if it is to be cancelled, since everybody has left.
    mutating func started(_ id: Int, _ run: Work) -> Work? {
        guard let request = requests[id] else { return run }
        if case .running = request.phase { requests[id]?.phase = .running(run) }
        return nil
    }

    /// A value has come. Returns who is to get it, in the order of their subscriptions, and the value whose place it takes, to
    /// be let go of where no lock is held.
    mutating func deliver(_ value: Value, _ id: Int) -> (to: [Subscriber], instead: Value?) {
        let old = requests[id]?.history.latest
        requests[id]?.history.latest = value
        return (subscribers(of: id), old)
    }

    /// The run has ended. Returns who is to hear it, in the order of their subscriptions.
    mutating func finish(_ id: Int, _ ending: MailboxEnding) -> [Subscriber] {
        requests[id]?.history.ending = ending
        requests[id]?.phase = .finished
        if closesWhenFinished, let key = requests[id]?.key { close(id, key) }
        return subscribers(of: id)
    }

    /// A subscriber leaves; leaving twice is leaving once.
    mutating func leave(_ subscription: SubscriptionID) -> Removal? {
        guard let subscriber = requests[subscription.request]?.subscribers.removeValue(forKey: subscription.number),
            let request = requests[subscription.request]
        else { return nil }
        let isLast = request.subscribers.isEmpty
        if isLast || request.hasFinished { close(subscription.request, request.key) }
        if isLast { requests[subscription.request] = nil }
        return Removal(subscriber: subscriber, request: isLast ? request : nil)
    }

    /// Who else sits in the request of a subscription, in no order.
    func otherSubscribers(of subscription: SubscriptionID) -> [Subscriber] {
        guard let subscribers = requests[subscription.request]?.subscribers, subscribers.count > 1 else { return [] }
        return subscribers.compactMap { $0.key == subscription.number ? nil : $0.value }
    }

    /// Who sits in a request, in the order of their subscriptions.
    func subscribers(of id: Int) -> [Subscriber] {
        guard let subscribers = requests[id]?.subscribers else { return [] }
        // Numbers alone: to sort pairs, of which the compiler doesn't know the second part here, takes many times as
        // long.
        let numbers: [Int] = Array(subscribers.keys).sorted()
        return numbers.compactMap { subscribers[$0] }
    }

    private mutating func close(_ id: Int, _ key: Key) {
        if joinable[key] == id { joinable[key] = nil }
    }
}
