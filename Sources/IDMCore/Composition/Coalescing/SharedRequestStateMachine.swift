/// The identity of one subscriber of one request.
struct SubscriptionID: Hashable, Sendable {
    let request: Int
    let number: Int
}

/// Decides who shares which request. ``SharedRequests`` performs the effects.
///
/// A request is one run of a provider for all subscribers of a key. It starts with the first subscriber that starts it,
/// and is cancelled when the last one leaves. It can be joined until all subscribers have left, or until it has
/// finished, or (if `closesWhenFinished` is false) until one has left after that.
struct SharedRequestStateMachine<Key: Hashable, Order, Value, Subscriber, Work> {
    /// The events before a subscriber joined.
    struct History {
        var latest: Value?
        var ending: MailboxEnding?
    }

    fileprivate enum Phase {
        /// Not started. The run is made for the first subscriber's order, whichever subscriber starts it.
        case idle(Order)
        /// Running. The run is nil until it is known.
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
        /// The run, if the request runs and it is known.
        var run: Work? { if case .running(let run) = phase { run } else { nil } }
    }

    /// A removed subscriber, to be released outside of the lock.
    struct Removal {
        let subscriber: Subscriber
        /// The request, if it has no subscriber left.
        let request: Request?

        /// The run to cancel.
        var cancelled: Work? { request?.run }
    }

    private var requests: [Int: Request] = [:]
    private var joinable: [Key: Int] = [:]
    private var lastRequest = 0
    private let closesWhenFinished: Bool

    /// - Parameter closesWhenFinished: Whether a finished request can no longer be joined. True where a later request
    ///   must be made anew, false where a run is not over before a subscriber has received it.
    init(closesWhenFinished: Bool) { self.closesWhenFinished = closesWhenFinished }

    /// True if there is no request.
    var isEmpty: Bool { requests.isEmpty && joinable.isEmpty }

    /// Adds a subscriber to the open request of `key`, or to a new one.
    mutating func join<R>(
        _ key: Key, for order: Order, _ subscriber: (SubscriptionID, History) -> (Subscriber, R)
    ) -> R {
        let id = joinable[key] ?? lastRequest + 1
        if requests[id] == nil {
            lastRequest = id
            // A key that does not equal itself, such as NaN, would never be found again.
            if key == key { joinable[key] = id }
            requests[id] = Request(key: key, phase: .idle(order))
        }
        let number = (requests[id]?.lastSubscription ?? 0) + 1
        let (subscribed, result) = subscriber(
            SubscriptionID(request: id, number: number), requests[id]?.history ?? History())
        // In place: a copy of all subscribers for each new one would cost quadratic time.
        requests[id]?.lastSubscription = number
        requests[id]?.subscribers[number] = subscribed
        return result
    }

    /// The next step of a subscriber that starts.
    enum StartAction {
        /// Start the request for this order.
        case start(Order)
        /// Wait for the run, if it is known.
        case wait(for: Work?)
    }

    /// A subscriber starts, with new contents since it joined.
    mutating func start(_ subscription: SubscriptionID, as subscriber: Subscriber) -> StartAction {
        let id = subscription.request
        guard requests[id]?.subscribers.updateValue(subscriber, forKey: subscription.number) != nil else {
            requests[id]?.subscribers[subscription.number] = nil
            return .wait(for: nil)
        }
        switch requests[id]?.phase {
        case .idle(let order):
            requests[id]?.phase = .running(nil)
            return .start(order)
        case .running(let run): return .wait(for: run)
        case .finished, nil: return .wait(for: nil)
        }
    }

    /// The run of a request is known. Returns it if it must be cancelled, because all subscribers have left.
    mutating func started(_ id: Int, _ run: Work) -> Work? {
        guard let request = requests[id] else { return run }
        if case .running = request.phase { requests[id]?.phase = .running(run) }
        return nil
    }

    /// A value has arrived. Returns the subscribers that receive it in the order of their numbers, and the value that it
    /// replaces, which is released outside of the lock.
    mutating func deliver(_ value: Value, _ id: Int) -> (to: [Subscriber], replaced: Value?) {
        let old = requests[id]?.history.latest
        requests[id]?.history.latest = value
        return (subscribers(of: id), old)
    }

    /// The run has ended. Returns the subscribers to notify in the order of their numbers.
    mutating func finish(_ id: Int, _ ending: MailboxEnding) -> [Subscriber] {
        requests[id]?.history.ending = ending
        requests[id]?.phase = .finished
        if closesWhenFinished, let key = requests[id]?.key { close(id, key) }
        return subscribers(of: id)
    }

    /// A subscriber leaves. Leaving twice does nothing.
    mutating func leave(_ subscription: SubscriptionID) -> Removal? {
        let id = subscription.request
        guard let subscriber = requests[id]?.subscribers.removeValue(forKey: subscription.number) else { return nil }
        // Read in place: a copy of the request for each subscriber costs more than the rest.
        let isLast = requests[id]?.subscribers.isEmpty ?? true
        if isLast || requests[id]?.hasFinished ?? true, let key = requests[id]?.key { close(id, key) }
        return Removal(subscriber: subscriber, request: isLast ? requests.removeValue(forKey: id) : nil)
    }

    /// The remaining subscribers of the same request, in no order.
    func otherSubscribers(of subscription: SubscriptionID) -> [Subscriber] {
        guard let subscribers = requests[subscription.request]?.subscribers, subscribers.count > 1 else { return [] }
        return subscribers.compactMap { $0.key == subscription.number ? nil : $0.value }
    }

    /// The subscribers of a request in the order of their numbers.
    func subscribers(of id: Int) -> [Subscriber] {
        guard let subscribers = requests[id]?.subscribers else { return [] }
        // The numbers alone: pairs whose second type is generic are sorted many times slower.
        let numbers: [Int] = Array(subscribers.keys).sorted()
        return numbers.compactMap { subscribers[$0] }
    }

    private mutating func close(_ id: Int, _ key: Key) { if joinable[key] == id { joinable[key] = nil } }
}
