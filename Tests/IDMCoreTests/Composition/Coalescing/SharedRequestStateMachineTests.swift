import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

/// Every order of events on one key, up to a bound, against a model.
@Suite(.timeLimit(.ample))
struct SharedRequestStateMachineTests {
    private enum Event {
        case join, start(Int), started(Int), deliver(Int), finish(Int), leave(Int)
    }

    /// The expected state of one request.
    private struct Seen {
        var first: Int?
        var subscribed: Set<Int> = []
        var wasSubscribed: Set<Int> = []
        var isStarted = false
        var isRunKnown = false
        var isCancelled = false
        var hasFinished = false
        var wasLeftAfterFinish = false
        var latest: Int?
    }

    private struct World {
        var machine: SharedRequestStateMachine<String, Int, Int, Int, Int>
        let closesWhenFinished: Bool
        var subscriptions: [SubscriptionID] = []
        var requests: [Int: Seen] = [:]
        var nextValue = 1

        init(closesWhenFinished: Bool) {
            machine = SharedRequestStateMachine(closesWhenFinished: closesWhenFinished)
            self.closesWhenFinished = closesWhenFinished
        }

        /// The events that are possible next.
        var events: [Event] {
            var events: [Event] = subscriptions.count < 3 ? [.join] : []
            for subscription in subscriptions.indices { events += [.start(subscription), .leave(subscription)] }
            for (id, request) in requests.sorted(by: { $0.key < $1.key }) where request.isStarted {
                if !request.isRunKnown { events.append(.started(id)) }
                if !request.hasFinished { events += [.deliver(id), .finish(id)] }
            }
            return events
        }

        mutating func perform(_ event: Event) -> [String] {
            switch event {
            case .join: return join()
            case .start(let subscription): return start(subscription)
            case .started(let id): return started(id)
            case .deliver(let id): return deliver(id)
            case .finish(let id): return finish(id)
            case .leave(let subscription): return leave(subscription)
            }
        }

        private mutating func join() -> [String] {
            let index = subscriptions.count
            let (subscription, history) = machine.join("key", for: index) { number, history in
                (index, (number, history))
            }
            let joined = requests[subscription.request] ?? Seen()
            subscriptions.append(subscription)
            requests[subscription.request, default: Seen()].first = joined.first ?? index
            requests[subscription.request, default: Seen()].subscribed.insert(index)
            requests[subscription.request, default: Seen()].wasSubscribed.insert(index)
            var faults: [String] = []
            if joined.isCancelled { faults.append("joined a cancelled request") }
            if joined.hasFinished, closesWhenFinished { faults.append("joined a finished request") }
            if joined.wasLeftAfterFinish { faults.append("joined a finished request after a subscriber left") }
            if history.latest != joined.latest { faults.append("missed the latest value") }
            if (history.ending != nil) != joined.hasFinished { faults.append("missed the end") }
            let open = requests.filter { id, request in
                id != subscription.request && !request.subscribed.isEmpty && !request.wasLeftAfterFinish
                    && !(request.hasFinished && closesWhenFinished)
            }
            if !open.isEmpty { faults.append("did not join the request that was open") }
            return faults
        }

        private mutating func start(_ index: Int) -> [String] {
            let subscription = subscriptions[index]
            let isSubscribed = requests[subscription.request]!.subscribed.contains(index)
            let request = requests[subscription.request]!
            let mustStart = isSubscribed && !request.isStarted
            let isOnTheWay = isSubscribed && request.isRunKnown && !request.hasFinished
            switch machine.start(subscription, as: index) {
            case .start(let order):
                requests[subscription.request]!.isStarted = true
                return mustStart && order == request.first
                    ? [] : ["started for \(order), first \(request.first as Any)"]
            case .wait(let run):
                let expected = isOnTheWay ? subscription.request : nil
                return !mustStart && run == expected ? [] : ["waits for \(run as Any), must start: \(mustStart)"]
            }
        }

        private mutating func started(_ id: Int) -> [String] {
            let cancelled = machine.started(id, id)
            requests[id]!.isRunKnown = true
            // Without subscribers, the run is cancelled as soon as it is known.
            let mustCancel = requests[id]!.subscribed.isEmpty
            if cancelled != nil { requests[id]!.isCancelled = true }
            return (cancelled != nil) == mustCancel ? [] : ["cancelled at the start: \(cancelled != nil)"]
        }

        private mutating func deliver(_ id: Int) -> [String] {
            let value = nextValue
            nextValue += 1
            let (subscribers, old) = machine.deliver(value, id)
            let subscribed = requests[id]!.subscribed
            var faults =
                subscribers == subscribed.sorted() ? [] : ["delivered to \(subscribers), subscribed \(subscribed)"]
            if !subscribed.isEmpty {
                if old != requests[id]!.latest { faults.append("lost the value before") }
                requests[id]!.latest = value
            }
            return faults
        }

        private mutating func finish(_ id: Int) -> [String] {
            let subscribers = machine.finish(id, .finished)
            requests[id]!.hasFinished = true
            return subscribers == requests[id]!.subscribed.sorted() ? [] : ["landed for \(subscribers)"]
        }

        private mutating func leave(_ index: Int) -> [String] {
            let id = subscriptions[index].request
            let wasSubscribed = requests[id]!.subscribed.remove(index) != nil
            let request = requests[id]!
            let cancelled = machine.leave(subscriptions[index])?.cancelled
            if wasSubscribed && request.hasFinished { requests[id]!.wasLeftAfterFinish = true }
            let mustCancel = wasSubscribed && request.subscribed.isEmpty && request.isRunKnown && !request.hasFinished
            if cancelled != nil { requests[id]!.isCancelled = true }
            if wasSubscribed && request.subscribed.isEmpty { requests[id]!.isCancelled = true }
            return (cancelled != nil) == mustCancel ? [] : ["cancelled at leaving: \(cancelled != nil)"]
        }

        /// The violated invariants.
        var faults: [String] {
            var faults: [String] = []
            let hasSubscribers = requests.values.contains { !$0.subscribed.isEmpty }
            if machine.isEmpty == hasSubscribers { faults.append("machine empty: \(machine.isEmpty)") }
            for (id, request) in requests where machine.subscribers(of: id) != request.subscribed.sorted() {
                faults.append("request \(id) knows \(machine.subscribers(of: id))")
            }
            return faults
        }
    }

    @Test("a shared request keeps its rules in every order of seven events", arguments: [false, true])
    func explored(closesWhenFinished: Bool) {
        var count = 0
        var faults: Set<String> = []
        func explore(_ world: World, _ depth: Int) {
            guard depth > 0 else { return }
            for event in world.events {
                var next = world
                faults.formUnion(next.perform(event))
                faults.formUnion(next.faults)
                count += 1
                explore(next, depth - 1)
            }
        }
        explore(World(closesWhenFinished: closesWhenFinished), 7)
        #expect(faults.isEmpty)
        #expect(count > 25_000)
    }

    @Test("a key that is not equal to itself is never shared and never kept")
    func notEqualToItself() {
        var machine = SharedRequestStateMachine<Double, Int, Int, String, Int>(closesWhenFinished: true)
        let subscription = machine.join(.nan, for: 1) { subscription, _ in ("a", subscription) }
        let other = machine.join(.nan, for: 2) { subscription, _ in ("b", subscription) }
        #expect(subscription.request != other.request)
        for subscription in [subscription, other] { #expect(machine.leave(subscription) != nil) }
        #expect(machine.isEmpty)
    }
}
