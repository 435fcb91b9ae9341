import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

/// Every order of events on one key, up to a bound, against a model that is too simple to be wrong.
@Suite("The book of flights", .timeLimit(.ample))
struct FlightBookTests {
    private enum Event {
        case join, ask(Int), started(Int), deliver(Int), land(Int), leave(Int)
    }

    /// What is known of one flight from outside.
    private struct Seen {
        var first: Int?
        var seated: Set<Int> = []
        var wasSeated: Set<Int> = []
        var isStarted = false
        var isRunKnown = false
        var isCancelled = false
        var hasLanded = false
        var hasSomebodyLeftLanded = false
        var latest: Int?
    }

    private struct World {
        var book: FlightBook<String, Int, Int, Int, Int>
        let closesAtLanding: Bool
        var seats: [SeatNumber] = []
        var flights: [Int: Seen] = [:]
        var nextValue = 1

        init(closesAtLanding: Bool) {
            book = FlightBook(closesAtLanding: closesAtLanding)
            self.closesAtLanding = closesAtLanding
        }

        /// Everything that may happen next.
        var events: [Event] {
            var events: [Event] = seats.count < 3 ? [.join] : []
            for seat in seats.indices { events += [.ask(seat), .leave(seat)] }
            for (id, flight) in flights.sorted(by: { $0.key < $1.key }) where flight.isStarted {
                if !flight.isRunKnown { events.append(.started(id)) }
                if !flight.hasLanded { events += [.deliver(id), .land(id)] }
            }
            return events
        }

        mutating func perform(_ event: Event) -> [String] {
            switch event {
            case .join: return join()
            case .ask(let seat): return ask(seat)
            case .started(let id): return started(id)
            case .deliver(let id): return deliver(id)
            case .land(let id): return land(id)
            case .leave(let seat): return leave(seat)
            }
        }

        private mutating func join() -> [String] {
            let index = seats.count
            let (seat, history) = book.join("key", for: index) { number, history in (index, (number, history)) }
            let joined = flights[seat.flight] ?? Seen()
            seats.append(seat)
            flights[seat.flight, default: Seen()].first = joined.first ?? index
            flights[seat.flight, default: Seen()].seated.insert(index)
            flights[seat.flight, default: Seen()].wasSeated.insert(index)
            var faults: [String] = []
            if joined.isCancelled { faults.append("joined a cancelled flight") }
            if joined.hasLanded, closesAtLanding { faults.append("joined a flight that has landed") }
            if joined.hasSomebodyLeftLanded { faults.append("joined a flight that landed and was left") }
            if history.latest != joined.latest { faults.append("missed the latest value") }
            if (history.ending != nil) != joined.hasLanded { faults.append("missed the end") }
            let open = flights.filter { id, flight in
                id != seat.flight && !flight.seated.isEmpty && !flight.hasSomebodyLeftLanded
                    && !(flight.hasLanded && closesAtLanding)
            }
            if !open.isEmpty { faults.append("did not join the flight that was open") }
            return faults
        }

        private mutating func ask(_ index: Int) -> [String] {
            let seat = seats[index]
            let isSeated = flights[seat.flight]!.seated.contains(index)
            let flight = flights[seat.flight]!
            let mustStart = isSeated && !flight.isStarted
            let isOnTheWay = isSeated && flight.isRunKnown && !flight.hasLanded
            switch book.ask(seat, as: index) {
            case .start(let order):
                flights[seat.flight]!.isStarted = true
                return mustStart && order == flight.first ? [] : ["started for \(order), first \(flight.first as Any)"]
            case .wait(let run):
                let expected = isOnTheWay ? seat.flight : nil
                return !mustStart && run == expected ? [] : ["waits for \(run as Any), must start: \(mustStart)"]
            }
        }

        private mutating func started(_ id: Int) -> [String] {
            let cancelled = book.started(id, id)
            flights[id]!.isRunKnown = true
            // Nobody is left: the run is cancelled now, since it could not be before.
            let mustCancel = flights[id]!.seated.isEmpty
            if cancelled != nil { flights[id]!.isCancelled = true }
            return (cancelled != nil) == mustCancel ? [] : ["cancelled at the start: \(cancelled != nil)"]
        }

        private mutating func deliver(_ id: Int) -> [String] {
            let value = nextValue
            nextValue += 1
            let (passengers, old) = book.deliver(value, id)
            let seated = flights[id]!.seated
            var faults = passengers == seated.sorted() ? [] : ["delivered to \(passengers), seated \(seated)"]
            if !seated.isEmpty {
                if old != flights[id]!.latest { faults.append("lost the value before") }
                flights[id]!.latest = value
            }
            return faults
        }

        private mutating func land(_ id: Int) -> [String] {
            let passengers = book.land(id, .finished)
            flights[id]!.hasLanded = true
            return passengers == flights[id]!.seated.sorted() ? [] : ["landed for \(passengers)"]
        }

        private mutating func leave(_ index: Int) -> [String] {
            let id = seats[index].flight
            let wasSeated = flights[id]!.seated.remove(index) != nil
            let flight = flights[id]!
            let cancelled = book.leave(seats[index])?.cancelled
            if wasSeated && flight.hasLanded { flights[id]!.hasSomebodyLeftLanded = true }
            let mustCancel = wasSeated && flight.seated.isEmpty && flight.isRunKnown && !flight.hasLanded
            if cancelled != nil { flights[id]!.isCancelled = true }
            if wasSeated && flight.seated.isEmpty { flights[id]!.isCancelled = true }
            return (cancelled != nil) == mustCancel ? [] : ["cancelled at leaving: \(cancelled != nil)"]
        }

        /// What holds at every moment.
        var faults: [String] {
            var faults: [String] = []
            let isAnybodySeated = flights.values.contains { !$0.seated.isEmpty }
            if book.isEmpty == isAnybodySeated { faults.append("book empty: \(book.isEmpty)") }
            for (id, flight) in flights where book.passengers(of: id) != flight.seated.sorted() {
                faults.append("flight \(id) knows \(book.passengers(of: id))")
            }
            return faults
        }
    }

    @Test("keeps its promises in every order of up to seven events", arguments: [false, true])
    func explored(closesAtLanding: Bool) {
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
        explore(World(closesAtLanding: closesAtLanding), 7)
        #expect(faults.isEmpty)
        #expect(count > 25_000)
    }

    @Test("keeps nothing of a key that doesn't equal itself")
    func notEqualToItself() {
        var book = FlightBook<Double, Int, Int, String, Int>(closesAtLanding: true)
        let seat = book.join(.nan, for: 1) { seat, _ in ("a", seat) }
        let other = book.join(.nan, for: 2) { seat, _ in ("b", seat) }
        #expect(seat.flight != other.flight)
        for seat in [seat, other] { #expect(book.leave(seat) != nil) }
        #expect(book.isEmpty)
    }

    @Test("keeps keys apart")
    func keys() {
        var book = FlightBook<String, Int, Int, String, Int>(closesAtLanding: true)
        let a = book.join("a", for: 1) { seat, _ in ("a", seat) }
        let b = book.join("b", for: 2) { seat, _ in ("b", seat) }
        #expect(a.flight != b.flight)
        guard case (.start(1), .start(2)) = (book.ask(a, as: "a"), book.ask(b, as: "b")) else {
            Issue.record("Each of the two is the first of its flight.")
            return
        }
        #expect(book.deliver(1, a.flight).to == ["a"])
        #expect(book.leave(a)?.cancelled == nil)
        #expect(!book.isEmpty)
    }
}
