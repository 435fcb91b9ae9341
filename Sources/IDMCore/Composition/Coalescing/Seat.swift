import Synchronization

/// A seat in a flight: one request's own part in a run that it shares with others. Made by ``Flights/join(_:_:)``.
///
/// Itself a provider, to be asked once. The input was given with the seat; the one that a request is made with isn't
/// looked at. A seat delivers every value that comes while it is taken, first of all the latest one so far, and keeps
/// what hasn't been asked for. When the task that asks is cancelled, the seat is left and the request ends at once.
final class Seat<Input: Sendable, Output: Sendable>: StreamDataProvider {
    private let number: SeatNumber
    private let mailbox: Mailbox<Output>
    private let host: any SeatHost<Input, Output>
    private let hasAsked = Atomic(false)
    private let hasLeft = Atomic(false)

    init(_ number: SeatNumber, mailbox: Mailbox<Output>, host: any SeatHost<Input, Output>) {
        self.number = number
        self.mailbox = mailbox
        self.host = host
    }

    deinit { leave() }

    var deliversMany: Bool { host.provider.stream != nil }

    func request(_ input: Input) async throws -> Output {
        try await last(isolation: #isolation)
    }

    func values(for input: Input) -> ProviderValues<Output> {
        ProviderValues { SeatCursor(seat: self) }
    }

    /// Gives the seat up. The last one to leave before the answer cancels the run. Leaving twice is leaving once.
    func leave() {
        // Most seats are left by who has asked, and then once more when they go.
        guard !hasLeft.exchange(true, ordering: .relaxed) else { return }
        mailbox.abandon { host.leave(number) }
    }

    fileprivate func next(isolation: isolated (any Actor)?) async throws -> Output? {
        if Task.isCancelled {
            leave()
        } else if !hasAsked.exchange(true, ordering: .relaxed) {
            let passenger = Passenger(
                mailbox: mailbox, reporter: IntegrationProgress.current, urgency: Task.currentPriority)
            host.ask(number, as: passenger, isolation: isolation)
        }
        if let item = mailbox.poll() { return try item.get() }
        return try await LibraryTask.hearingCancel {
            try await mailbox.next(isolation: isolation)
        } onCancel: {
            leave()
        }
    }

    private func last(isolation: isolated (any Actor)?) async throws -> Output {
        var last: Output?
        while let value = try await next(isolation: isolation) { last = value }
        guard let last else { throw DataProviderError.noAnswer }
        return last
    }
}

private struct SeatCursor<Input: Sendable, Output: Sendable>: ValueCursor {
    let seat: Seat<Input, Output>

    mutating func next(isolation: isolated (any Actor)?) async throws -> Output? {
        try await seat.next(isolation: isolation)
    }
}

/// Where a seat's flight is known.
protocol SeatHost<Input, Output>: AnyObject, Sendable {
    associatedtype Input: Sendable
    associatedtype Output: Sendable

    var provider: any DataProvider<Input, Output> { get }

    func ask(_ seat: SeatNumber, as passenger: Passenger<Output>, isolation: isolated (any Actor)?)
    func leave(_ seat: SeatNumber)
}
