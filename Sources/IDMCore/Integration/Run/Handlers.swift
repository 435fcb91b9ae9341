/// The handlers of a call, in the order in which they were added.
struct Handlers: Sendable {
    private(set) var signals: [HandlerSignal] = []
    private(set) var successes: [any SuccessHandler] = []
    private(set) var kinds: HandlerKinds = []

    mutating func append(_ signal: HandlerSignal) {
        // Most calls have two or three: one allocation serves them.
        if signals.isEmpty { signals.reserveCapacity(4) }
        signals.append(signal)
        kinds.insert(signal.kind)
    }

    mutating func append(success: any SuccessHandler) {
        successes.append(success)
        kinds.insert(.success)
    }

    /// These handlers, and then the others.
    func followed(by others: Handlers) -> Handlers {
        var all = self
        all.signals += others.signals
        all.successes += others.successes
        all.kinds.formUnion(others.kinds)
        return all
    }

    /// The actor of the first handler of a kind, or the other actor if there is no such handler.
    func actor(of kind: HandlerKinds, else other: (any Actor)?) -> (any Actor)? {
        guard kinds.contains(kind) else { return other }
        if kind == .success { return successes[0].isolation }
        for signal in signals where signal.kind == kind {
            return signal.isolation
        }
        return other
    }
}
