import IDMCore

/// The expectations of one call of `waitForEvents`, and the events that were held against them.
struct ExpectedEvents<Output: Sendable>: Sendable {
    private let all: [EventExpectation<Output>]
    private var rest: ArraySlice<EventExpectation<Output>>
    private var events: [IntegrationEvent<Output>] = []

    init(_ all: [EventExpectation<Output>]) {
        self.all = all
        rest = all[...]
    }

    var areMet: Bool { rest.isEmpty }
    var restCount: Int { rest.count }

    /// Takes the next event. Returns whether it meets the next expectation, or is progress that may come before.
    mutating func take(_ event: IntegrationEvent<Output>) -> Bool {
        events.append(event)
        guard let next = rest.first else { return false }
        if next.isMet(event) {
            rest.removeFirst()
            return true
        }
        return next.passes(over: event)
    }

    /// Adds events for the message only.
    mutating func add(_ events: [IntegrationEvent<Output>]) {
        self.events += events
    }

    /// Returns whether events that haven't been consumed yet meet the rest.
    func areMet(by events: some Sequence<IntegrationEvent<Output>>) -> Bool {
        var copy = self
        for event in events {
            if copy.areMet { return true }
            guard copy.take(event) else { return false }
        }
        return copy.areMet
    }

    var message: String {
        "Expected \(all.map(\.description).inWords), and \(IntegrationEvent.words(for: events).inWords) came"
    }
}
