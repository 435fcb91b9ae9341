import TestSupport
import Testing

@testable import IDMOperations

/// Every order of events of three makers and three services, up to a bound.
@Suite("Who makes services", .timeLimit(.ample))
struct ServiceMakingTests {
    private final class Place: Sendable {}
    private static let homes = [Place(), Place(), Place()]
    private static let keys = [ServiceKey(Int.self), ServiceKey(String.self), ServiceKey(Bool.self)]

    private static func slot(_ service: Int) -> ServiceMaking.Slot {
        ServiceMaking.Slot(home: ObjectIdentifier(homes[service]), key: keys[service])
    }

    /// A thread, which makes one service for another, and waits for no more than one.
    private struct Maker {
        let thread = Place()
        var services: [Int] = []
        /// What it is about to wait for.
        var willWaitFor: Int?
        var waitsFor: Int?
    }

    private struct World {
        var making = ServiceMaking()
        var makers = [Maker(), Maker(), Maker()]

        enum Event { case need(Int, Int), wait(Int), end(Int) }

        var events: [Event] {
            makers.indices.filter { makers[$0].waitsFor == nil }.flatMap { maker -> [Event] in
                // Others may come between.
                if makers[maker].willWaitFor != nil { return [.wait(maker)] }
                return (0..<3).map { Event.need(maker, $0) } + (makers[maker].services.isEmpty ? [] : [.end(maker)])
            }
        }

        private func maker(of service: Int) -> Int? { makers.firstIndex { $0.services.contains(service) } }

        /// Whether a maker that waited for a service would wait for itself.
        private func closes(_ maker: Int, _ service: Int) -> Bool {
            var next = self.maker(of: service)
            while let other = next {
                if other == maker { return true }
                next = makers[other].waitsFor.flatMap { self.maker(of: $0) }
            }
            return false
        }

        /// The way from a service that a maker needs to itself, each needing the next one.
        private func round(from maker: Int, _ service: Int) -> [ServiceKey] {
            var way: [Int] = []
            var next = service
            while let other = self.maker(of: next), let start = makers[other].services.firstIndex(of: next) {
                let needed = Array(makers[other].services[start...])
                if other == maker { return (needed + way + [next]).map { keys[$0] } }
                way += needed
                guard let waitsFor = makers[other].waitsFor else { break }
                next = waitsFor
            }
            return []
        }

        mutating func perform(_ event: Event) -> String? {
            switch event {
            case .need(let maker, let service):
                let thread = ObjectIdentifier(makers[maker].thread)
                let (isMade, closes) = (self.maker(of: service) != nil, closes(maker, service))
                switch making.begin(slot(service), on: thread, suspends: false) {
                case .make:
                    makers[maker].services.append(service)
                    return isMade ? "one is made twice" : nil
                case .wait(let other):
                    makers[maker].willWaitFor = service
                    return isMade && !closes && other == slot(service) ? nil : "a wait for nobody, or for oneself"
                case .recursive(let keys):
                    return closes && keys == round(from: maker, service) ? nil : "another circle: \(keys.map(\.name))"
                }
            case .wait(let maker):
                guard let service = makers[maker].willWaitFor else { return "nothing to wait for" }
                makers[maker].willWaitFor = nil
                let (isMade, closes) = (self.maker(of: service) != nil, closes(maker, service))
                switch making.wait(for: slot(service), on: ObjectIdentifier(makers[maker].thread), {}) {
                case .added:
                    makers[maker].waitsFor = service
                    return isMade && !closes ? nil : "a wait for nobody, or for oneself"
                case .over: return isMade ? "not added" : nil
                case .recursive(let keys):
                    return closes && keys == round(from: maker, service) ? nil : "another circle: \(keys.map(\.name))"
                }
            case .end(let maker):
                let service = makers[maker].services.removeLast()
                let woken = making.end(slot(service)).count
                let waited = makers.indices.filter { makers[$0].waitsFor == service }
                for other in waited { makers[other].waitsFor = nil }
                return woken == waited.count ? nil : "not all were woken"
            }
        }

        /// Somebody can always go on.
        var isStuck: Bool { makers.allSatisfy { $0.waitsFor != nil } }
    }

    @Test(.offThePool) func `explored: each is made by one, nobody waits for itself, and somebody can always go on`() {
        var walked = 0
        func walk(_ world: World, _ depth: Int, _ trail: [World.Event]) {
            for event in world.events {
                var next = world
                walked += 1
                if let fault = next.perform(event) ?? (next.isStuck ? "all wait" : nil) {
                    Issue.record("\(fault), after \(trail + [event])")
                    return
                }
                if depth > 1 { walk(next, depth - 1, trail + [event]) }
            }
        }
        walk(World(), Volume.of(7, normally: 5), [])
        #expect(walked > 10_000)
    }

    @Test func `who suspends waits for whoever it may be, and closes no circle`() {
        let (own, other) = (ObjectIdentifier(Self.homes[0]), ObjectIdentifier(Self.homes[1]))
        let slots = (0..<3).map(Self.slot)
        var making = ServiceMaking()
        guard case .make = making.begin(slots[0], on: own, suspends: true),
            case .make = making.begin(slots[1], on: other, suspends: false),
            case .wait(slots[0]) = making.begin(slots[0], on: own, suspends: true),
            // Below a making, what isn't made waits for the end of that.
            case .make = making.begin(slots[2], on: own, suspends: false),
            case .wait(slots[2]) = making.begin(
                ServiceMaking.Slot(home: own, key: Self.keys[2]), on: own, suspends: true),
            making.suspend(for: slots[0], {}),
            // The one that suspends is not what the thread waits for.
            case .wait(slots[0]) = making.begin(slots[0], on: other, suspends: false),
            case .added = making.wait(for: slots[0], on: other, {}),
            case .wait(slots[1]) = making.begin(slots[1], on: own, suspends: true),
            case .recursive(let keys) = making.begin(slots[1], on: own, suspends: false)
        else {
            Issue.record("it went another way")
            return
        }
        #expect(keys == [0, 2, 1, 0].map { Self.keys[$0] })
        #expect(making.end(slots[0]).count == 2 && making.end(slots[1]).isEmpty)
        guard case .over = making.wait(for: slots[0], on: own, {}) else {
            Issue.record("it is waited for")
            return
        }
    }
}
