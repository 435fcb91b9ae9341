/// The handlers of a call, in the order in which they were added.
struct Handlers: Sendable {
    /// A handler, with its kind at hand: to look through the kinds costs nothing, to copy a handler does.
    private struct Entry: Sendable {
        let signal: HandlerSignal
        // After the signal, at the end of which there is room for it.
        let kind: HandlerKinds
    }

    /// Where all handlers were written.
    private enum Home: Sendable, Equatable {
        case anywhere
        /// On one actor, or on none. They hold it, so that it is nobody else's name meanwhile.
        case one(ObjectIdentifier?)
        case several

        func joined(with other: Home) -> Home {
            switch (self, other) {
            case (.anywhere, let home), (let home, .anywhere): home
            default: self == other ? self : .several
            }
        }
    }

    private var entries: [Entry] = []
    private var home = Home.anywhere
    private(set) var kinds: HandlerKinds = []

    mutating func append(_ signal: consuming HandlerSignal) {
        // Most calls have a few: one allocation serves them.
        if entries.isEmpty { entries.reserveCapacity(4) }
        let kind = signal.kind
        if kind != .watch { home = home.joined(with: .one(signal.isolation.map { ObjectIdentifier($0) })) }
        entries.append(Entry(signal: signal, kind: kind))
        kinds.formUnion(kind)
    }

    /// These handlers, and then the others.
    func followed(by others: Handlers) -> Handlers {
        var all = self
        all.entries += others.entries
        all.home = home.joined(with: others.home)
        all.kinds.formUnion(others.kinds)
        return all
    }

    var indices: Range<Int> { entries.indices }

    func kind(at index: Int) -> HandlerKinds { entries[index].kind }

    subscript(index: Int) -> HandlerSignal { entries[index].signal }

    /// Whether all handlers were written where the caller runs.
    func areHere(_ caller: ObjectIdentifier?) -> Bool {
        home == .one(caller) || home == .anywhere
    }

    /// The actor of the first handler of a kind, or the other actor if there is no such handler.
    func actor(of kind: HandlerKinds, else other: (any Actor)?) -> (any Actor)? {
        guard !kinds.isDisjoint(with: kind) else { return other }
        for index in entries.indices where entries[index].kind == kind {
            return entries[index].signal.isolation
        }
        return other
    }
}
