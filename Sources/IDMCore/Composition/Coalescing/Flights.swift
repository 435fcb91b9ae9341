/// Requests that share one run of a provider. Used by ``DataProvider/coalesced(by:)`` and by `.only(joining: true)`.
///
/// Whoever joins gets a ``Seat``. The provider is asked once a flight, with the input of the first passenger, by the
/// first that asks, on that one's actor, and hears a cancel when the last passenger has left.
final class Flights<Key: Hashable & Sendable, Input: Sendable, Output: Sendable>: SeatHost {
    typealias Book = FlightBook<Key, Input, Output, Passenger<Output>, Task<Void, Never>>

    let provider: any DataProvider<Input, Output>
    private let book: Locked<Book>

    /// - Parameter closesAtLanding: Whether what is asked after the answer is asked anew, though nobody has heard it
    ///   yet.
    init(provider: any DataProvider<Input, Output>, closesAtLanding: Bool) {
        self.provider = provider
        book = Locked(Book(closesAtLanding: closesAtLanding))
    }

    /// Whether no flight is known any more.
    var isEmpty: Bool { book.withLock { $0.isEmpty } }

    /// Takes a seat in the flight of a key: the one that can be joined, or a new one.
    func join(_ key: Key, _ input: Input) -> Seat<Input, Output> {
        book.withLock { book in
            book.join(key, for: input) { number, history in
                let mailbox = Mailbox(first: history.latest, ending: history.ending)
                let seat = Seat(number, mailbox: mailbox, host: self)
                return (Passenger(mailbox: mailbox), seat)
            }
        }
    }

    func ask(
        _ seat: SeatNumber, as passenger: Passenger<Output>, isolation: isolated (any Actor)?
    ) {
        switch book.withLock({ $0.ask(seat, as: passenger) }) {
        case .start(let input): start(input, for: seat, isolation: isolation)
        case .wait(let run?): hurry(run, for: passenger)
        case .wait(nil): break
        }
    }

    private func start(_ input: Input, for seat: SeatNumber, isolation: isolated (any Actor)?) {
        let id = seat.flight
        let run = PauseControl.unbind {
            LibraryTask.start(isolation: isolation) { isolation in
                await IntegrationProgress.Reporter(FlightListener(self, id)).ambient(isolation: isolation) {
                    await self.fly(self.provider, input, id, isolation: isolation)
                }
            }
        }
        let (cancelled, companions) = book.withLock { ($0.started(id, run), $0.companions(of: seat)) }
        cancelled?.cancel()
        // They may have asked before the run was known.
        for companion in companions { hurry(run, for: companion) }
    }

    /// Who joins is not to wait for something less urgent than itself.
    private func hurry(_ run: Task<Void, Never>, for passenger: Passenger<Output>) {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        if let urgency = passenger.urgency { run.escalatePriority(to: urgency) }
    }

    func leave(_ seat: SeatNumber) {
        book.withLock { $0.leave(seat) }?.cancelled?.cancel()
    }

    private func fly<P: DataProvider<Input, Output>>(
        _ provider: P, _ input: Input, _ id: Int, isolation: isolated (any Actor)?
    ) async {
        do {
            // Its turn may have come late.
            try Task.checkCancellation()
            var values = ProviderValues(of: provider, for: input).makeAsyncIterator()
            while let value = try await values.next(isolation: isolation) {
                for passenger in book.withLock({ $0.deliver(value, id) }).to { passenger.mailbox.send(value) }
            }
            land(id, .finished)
        } catch {
            land(id, .failed(error))
        }
    }

    private func land(_ id: Int, _ ending: MailboxEnding) {
        for passenger in book.withLock({ $0.land(id, ending) }) { passenger.mailbox.end(ending) }
    }

    fileprivate func hear(_ progress: IntegrationProgress, from id: Int) {
        for passenger in book.withLock({ $0.passengers(of: id) }) { passenger.reporter?.send(progress) }
    }

    /// Passes the progress of one flight on to whoever sits in it. Doesn't hold the flights: a provider may keep its
    /// reporter for ever.
    private final class FlightListener: ProgressListener {
        private weak let flights: Flights?
        private let id: Int

        init(_ flights: Flights, _ id: Int) {
            self.flights = flights
            self.id = id
        }

        func hear(_ progress: IntegrationProgress) {
            flights?.hear(progress, from: id)
        }
    }
}

/// Where a flight delivers to.
struct Passenger<Output: Sendable>: Sendable {
    let mailbox: Mailbox<Output>
    // Known once it has asked.
    var reporter: IntegrationProgress.Reporter?
    var urgency: TaskPriority?
}
