import IDMCore

/// Expectations in a row, and the events that have come of them: what one `expect` of a recorder holds.
struct ExpectedEvents<Output: Sendable>: Sendable {
    private let all: [EventExpectation<Output>]
    /// Those that are still to be met.
    private var rest: ArraySlice<EventExpectation<Output>>
    private var came: [IntegrationEvent<Output>] = []
    private let passesOverProgress: Bool

    init(_ all: [EventExpectation<Output>], passingOverProgress passesOverProgress: Bool) {
        self.all = all
        self.passesOverProgress = passesOverProgress
        rest = all[...]
    }

    var areMet: Bool { rest.isEmpty }
    /// How many are still to be met.
    var restCount: Int { rest.count }

    /// Takes the next event, and says whether it fits: it meets the next expectation, or is progress on the way there.
    mutating func take(_ event: IntegrationEvent<Output>) -> Bool {
        came.append(event)
        guard let next = rest.first else { return false }
        if next.isMet(event) {
            rest.removeFirst()
            return true
        }
        return passesOverProgress && next.passes(over: event)
    }

    /// Adds what came where an event didn't fit, for the words.
    mutating func add(_ events: [IntegrationEvent<Output>]) {
        came += events
    }

    /// Whether events that nobody has taken yet meet all that is still to be met.
    func areMet(by events: some Sequence<IntegrationEvent<Output>>) -> Bool {
        var ahead = self
        for event in events {
            if ahead.areMet { return true }
            guard ahead.take(event) else { return false }
        }
        return ahead.areMet
    }

    /// What was expected, and what came.
    var words: String {
        "Expected \(all.map(\.description).inWords), and \(IntegrationEvent.words(for: came).inWords) came"
    }
}
