import Synchronization

/// Which services are being made, by whom, and who waits for them. A pure state machine, shared by all scopes of a
/// registry.
///
/// A service is made by one at a time. Who needs it meanwhile waits, unless it would wait for itself: because it makes
/// the service, or because whoever makes it waits, over any number of others, for what this one makes.
struct ServiceMaking: Sendable {
    /// A service in a registry.
    struct Slot: Hashable, Sendable {
        let home: ObjectIdentifier
        let type: ObjectIdentifier
    }

    /// What is being made for what, outermost first: where a question comes from.
    struct Path: Sendable {
        fileprivate struct Step: Sendable {
            let slot: Slot
            let number: Int
        }

        fileprivate var steps: [Step] = []

        init() {}
    }

    private struct Making: Sendable {
        let name: String
        let number: Int
        var waiters: [(path: Path, wake: @Sendable () -> Void)] = []
    }

    private var makings: [Slot: Making] = [:]
    private var lastNumber = 0

    /// Whether nothing is being made.
    var isIdle: Bool { makings.isEmpty }

    enum Beginning: Sendable {
        /// Make it, on this path, and then say ``ServiceMaking/end(_:)``.
        case make(Path)
        /// Somebody else makes it.
        case wait
        /// It is needed to be made itself: these need one another, and the last is the first again.
        case recursive([String])
    }

    /// A service that hasn't been made is needed.
    ///
    /// - Parameter suspends: Whether who needs it can wait without holding up what is made on the path.
    mutating func begin(_ slot: Slot, _ name: String, on path: Path, suspends: Bool) -> Beginning {
        guard makings[slot] == nil else {
            if suspends { return .wait }
            return circle(from: slot, name, to: path).map { .recursive($0) } ?? .wait
        }
        lastNumber += 1
        makings[slot] = Making(name: name, number: lastNumber)
        var path = path
        path.steps.append(Path.Step(slot: slot, number: lastNumber))
        return .make(path)
    }

    enum Waiting: Sendable {
        /// It is woken when the making has ended.
        case added
        /// It is to look again at once.
        case over
        case recursive([String])
    }

    /// Somebody waits for a service that somebody else makes. On no path, if that holds up nothing that is made.
    mutating func wait(
        for slot: Slot, on path: Path, _ wake: @escaping @Sendable () -> Void
    ) -> Waiting {
        guard let making = makings[slot] else { return .over }
        // Since it was seen that there was none, another one may have closed the circle.
        if let names = circle(from: slot, making.name, to: path) { return .recursive(names) }
        makings[slot]?.waiters.append((path, wake))
        return .added
    }

    /// A making has ended, well or not. Returns those who wait, to be woken where no lock is held.
    mutating func end(_ slot: Slot) -> [@Sendable () -> Void] {
        makings.removeValue(forKey: slot)?.waiters.map(\.wake) ?? []
    }

    /// Whether the making of a slot can't end before a path does. Returns the names on the way round.
    private func circle(from slot: Slot, _ name: String, to path: Path) -> [String]? {
        // What has ended since is no part of the path: a task that a service has started goes on long after.
        let own = path.steps.filter { makings[$0.slot]?.number == $0.number }
        var seen: Set<Slot> = []
        func walk(_ slot: Slot, _ names: [String]) -> [String]? {
            if let start = own.firstIndex(where: { $0.slot == slot }) {
                return own[start...].compactMap { makings[$0.slot]?.name } + names
            }
            guard seen.insert(slot).inserted, let number = makings[slot]?.number else { return nil }
            for (next, making) in makings {
                let isAwaited = making.waiters.contains { $0.path.steps.contains { $0.number == number } }
                if isAwaited, let round = walk(next, names + [making.name]) { return round }
            }
            return nil
        }
        return walk(slot, [name])
    }
}
