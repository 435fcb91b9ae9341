/// A seat in one flight.
struct SeatNumber: Hashable, Sendable {
    let flight: Int
    let number: Int
}

/// Who sits in which flight: what ``Flights`` does, without the doing.
///
/// A flight is one run of a provider for everybody who asks for the same key. It starts when the first passenger asks,
/// and is cancelled when the last one leaves. It can be joined until its key is free for the next flight: once
/// everybody has left, or once it has landed, or only when somebody has left after that.
struct FlightBook<Key: Hashable, Order, Value, Passenger, Work> {
    /// What a passenger who joins late has missed.
    struct History {
        var latest: Value?
        var ending: MailboxEnding?
    }

    fileprivate enum Phase {
        /// Nobody has asked yet. Whoever does first, what the first passenger came for is what is asked.
        case grounded(Order)
        /// On the way; nil until the run is known.
        case flying(Work?)
        case landed
    }

    struct Flight {
        let key: Key
        fileprivate var phase: Phase
        var history = History()
        var passengers: [Int: Passenger] = [:]
        var lastSeat = 0

        var hasLanded: Bool { if case .landed = phase { true } else { false } }
        /// What is on the way, if that is known.
        var run: Work? { if case .flying(let run) = phase { run } else { nil } }
    }

    /// What nobody needs any more, to be let go of where no lock is held.
    struct Leftovers {
        let passenger: Passenger
        /// Nobody is left in it.
        let flight: Flight?

        /// The run that is to be cancelled.
        var cancelled: Work? { flight?.run }
    }

    private var flights: [Int: Flight] = [:]
    private var joinable: [Key: Int] = [:]
    private var lastFlight = 0
    private let closesAtLanding: Bool

    /// - Parameter closesAtLanding: Whether nobody joins a flight that has landed, though nobody has left it. True
    ///   where what is asked after the answer is to be asked anew, false where the run isn't over before somebody has
    ///   heard it.
    init(closesAtLanding: Bool) {
        self.closesAtLanding = closesAtLanding
    }

    /// Whether nobody sits anywhere.
    var isEmpty: Bool { flights.isEmpty && joinable.isEmpty }

    /// Takes a seat in the key's flight, or in a new one.
    mutating func join<R>(_ key: Key, for order: Order, _ passenger: (SeatNumber, History) -> (Passenger, R)) -> R {
        let id = joinable[key] ?? open(key, for: order)
        let number = (flights[id]?.lastSeat ?? 0) + 1
        let (seated, result) = passenger(SeatNumber(flight: id, number: number), flights[id]?.history ?? History())
        // In place: a copy of all who sit there, for each who joins, would make many dear.
        flights[id]?.lastSeat = number
        flights[id]?.passengers[number] = seated
        return result
    }

    private mutating func open(_ key: Key, for order: Order) -> Int {
        lastFlight += 1
        // A key that doesn't equal itself, as a number that is none, would never be found again.
        if key == key { joinable[key] = lastFlight }
        flights[lastFlight] = Flight(key: key, phase: .grounded(order))
        return lastFlight
    }

    /// What a passenger who asks is to do.
    enum Turn {
        /// Start the flight, for what its first passenger came for.
        case start(Order)
        /// Wait for what is on the way, if it is known.
        case wait(for: Work?)
    }

    /// A passenger asks, and may have changed since it took the seat.
    mutating func ask(_ seat: SeatNumber, as passenger: Passenger) -> Turn {
        guard flights[seat.flight]?.passengers[seat.number] != nil else { return .wait(for: nil) }
        flights[seat.flight]?.passengers[seat.number] = passenger
        guard case .grounded(let order) = flights[seat.flight]?.phase else {
            return .wait(for: flights[seat.flight]?.run)
        }
        flights[seat.flight]?.phase = .flying(nil)
        return .start(order)
    }

    /// The run of a flight is known. Returns it if it is to be cancelled, since everybody has left.
    mutating func started(_ id: Int, _ run: Work) -> Work? {
        guard let flight = flights[id] else { return run }
        if case .flying = flight.phase { flights[id]?.phase = .flying(run) }
        return nil
    }

    /// A value has come. Returns who is to get it, in the order of their seats, and the value whose place it takes, to
    /// be let go of where no lock is held.
    mutating func deliver(_ value: Value, _ id: Int) -> (to: [Passenger], instead: Value?) {
        let old = flights[id]?.history.latest
        flights[id]?.history.latest = value
        return (passengers(of: id), old)
    }

    /// The run has ended. Returns who is to hear it, in the order of their seats.
    mutating func land(_ id: Int, _ ending: MailboxEnding) -> [Passenger] {
        flights[id]?.history.ending = ending
        flights[id]?.phase = .landed
        if closesAtLanding, let key = flights[id]?.key { retire(id, key) }
        return passengers(of: id)
    }

    /// A passenger leaves; leaving twice is leaving once.
    mutating func leave(_ seat: SeatNumber) -> Leftovers? {
        guard let passenger = flights[seat.flight]?.passengers.removeValue(forKey: seat.number),
            let flight = flights[seat.flight]
        else { return nil }
        let isLast = flight.passengers.isEmpty
        if isLast || flight.hasLanded { retire(seat.flight, flight.key) }
        if isLast { flights[seat.flight] = nil }
        return Leftovers(passenger: passenger, flight: isLast ? flight : nil)
    }

    /// Who else sits in the flight of a seat, in no order.
    func companions(of seat: SeatNumber) -> [Passenger] {
        guard let passengers = flights[seat.flight]?.passengers, passengers.count > 1 else { return [] }
        return passengers.compactMap { $0.key == seat.number ? nil : $0.value }
    }

    /// Who sits in a flight, in the order of their seats.
    func passengers(of id: Int) -> [Passenger] {
        guard let passengers = flights[id]?.passengers else { return [] }
        // Numbers alone: to sort pairs, of which the compiler doesn't know the second part here, takes many times as
        // long.
        let numbers: [Int] = Array(passengers.keys).sorted()
        return numbers.compactMap { passengers[$0] }
    }

    private mutating func retire(_ id: Int, _ key: Key) {
        if joinable[key] == id { joinable[key] = nil }
    }
}
