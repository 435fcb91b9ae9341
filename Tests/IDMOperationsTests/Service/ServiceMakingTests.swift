import TestSupport
import Testing

@testable import IDMOperations

/// Every order of events of three makers and three services, up to a bound.
@Suite("Who makes services", .timeLimit(.ample))
struct ServiceMakingTests {
    private final class Place: Sendable {}
    private static let homes = [Place(), Place(), Place()]

    private static func slot(_ service: Int) -> ServiceMaking.Slot {
        ServiceMaking.Slot(home: ObjectIdentifier(homes[service]), type: ObjectIdentifier(Int.self))
    }

    /// A thread, which makes one service for another, and waits for no more than one.
    private struct Maker {
        var paths = [ServiceMaking.Path()]
        var services: [Int] = []
        var waitsFor: Int?
    }

    private struct World {
        var making = ServiceMaking()
        var makers = Array(repeating: Maker(), count: 3)

        enum Event { case need(Int, Int), end(Int) }

        var events: [Event] {
            makers.indices.filter { makers[$0].waitsFor == nil }.flatMap { maker in
                (0..<3).map { Event.need(maker, $0) } + (makers[maker].services.isEmpty ? [] : [.end(maker)])
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

        mutating func perform(_ event: Event) -> String? {
            switch event {
            case .need(let maker, let service):
                let path = makers[maker].paths[makers[maker].paths.count - 1]
                let (isMade, closes) = (self.maker(of: service) != nil, closes(maker, service))
                switch making.begin(slot(service), "\(service)", on: path, suspends: false) {
                case .make(let path):
                    makers[maker].paths.append(path)
                    makers[maker].services.append(service)
                    return isMade ? "one is made twice" : nil
                case .wait:
                    guard isMade, !closes else { return "a wait for nobody, or for oneself" }
                    guard case .added = making.wait(for: slot(service), on: path, {}) else { return "not added" }
                    makers[maker].waitsFor = service
                    return nil
                case .recursive(let names):
                    let isRound = names.first == names.last && names.count > 1 && names.last == "\(service)"
                    let own = makers[maker].services.map { "\($0)" }
                    return closes && (isRound || own.contains(names[0])) ? nil : "a circle where none is: \(names)"
                }
            case .end(let maker):
                let service = makers[maker].services.removeLast()
                makers[maker].paths.removeLast()
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

    @Test func `a path whose makings have ended is in nobody's way`() {
        var making = ServiceMaking()
        guard case .make(let path) = making.begin(Self.slot(0), "0", on: ServiceMaking.Path(), suspends: false) else {
            Issue.record("nothing is made")
            return
        }
        _ = making.end(Self.slot(0))
        #expect(making.isIdle)
        // A task that the service has started asks for it later.
        guard case .make = making.begin(Self.slot(0), "0", on: path, suspends: false) else {
            Issue.record("it isn't made again")
            return
        }
    }
}
