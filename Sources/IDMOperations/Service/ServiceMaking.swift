/// Which services are being made, on which threads, and who waits for them. A pure state machine.
///
/// A service is made by one thread, in one go. Who needs it meanwhile waits, unless that would be a wait for itself:
/// because its thread makes the service, or because the thread that does waits, over any number of others, for what
/// this one makes.
struct ServiceMaking: Sendable {
    /// A service in a registry.
    struct Slot: Hashable, Sendable {
        let home: ObjectIdentifier
        let key: ServiceKey
    }

    /// A thread, by what stands for it as long as it lives.
    typealias Maker = ObjectIdentifier

    private struct Making: Sendable {
        let maker: Maker
        /// How many were begun before it.
        let number: Int
        /// Those that suspend hold up no thread, and nothing that is made.
        typealias Waiter = (thread: Maker?, wake: @Sendable () -> Void)

        var waiters: [Waiter] = []
    }

    private var makings: [Slot: Making] = [:]
    private var lastNumber = 0

    enum Beginning: Sendable {
        /// Make it, and then say ``ServiceMaking/end(_:)``.
        case make
        /// Wait for this one, and ask again: somebody makes it, or it is what the thread makes just now.
        case wait(Slot)
        /// It is needed to be made itself: these need one another, and the last is the first again.
        case recursive([ServiceKey])
    }

    /// A service that hasn't been made is needed.
    ///
    /// - Parameter suspends: Whether who needs it can wait without holding up the thread. Then nothing that the thread
    ///   makes needs it, even if it is asked for below that on the stack: it is made after that.
    mutating func begin(_ slot: Slot, on thread: Maker, suspends: Bool) -> Beginning {
        guard makings[slot] == nil else {
            return suspends ? .wait(slot) : circle(from: slot, to: thread).map { .recursive($0) } ?? .wait(slot)
        }
        if suspends,
            let last = makings.filter({ $0.value.maker == thread }).max(by: { $0.value.number < $1.value.number })
        {
            return .wait(last.key)
        }
        lastNumber += 1
        makings[slot] = Making(maker: thread, number: lastNumber)
        return .make
    }

    enum Waiting: Sendable {
        /// It is woken when the making has ended.
        case added
        /// It is to look again at once.
        case over
        case recursive([ServiceKey])
    }

    /// Somebody waits for a service that somebody else makes, and holds up a thread.
    mutating func wait(for slot: Slot, on thread: Maker, _ wake: @escaping @Sendable () -> Void) -> Waiting {
        // Since it was seen that there was none, another one may have closed the circle.
        if let keys = circle(from: slot, to: thread) { return .recursive(keys) }
        return add((thread, wake), to: slot) ? .added : .over
    }

    /// Somebody waits for a service that somebody else makes, and holds up nobody. Returns false if it is over.
    mutating func suspend(for slot: Slot, _ wake: @escaping @Sendable () -> Void) -> Bool {
        add((nil, wake), to: slot)
    }

    private mutating func add(_ waiter: Making.Waiter, to slot: Slot) -> Bool {
        makings[slot]?.waiters.append(waiter) != nil
    }

    /// A making has ended, well or not. Returns those who wait, to be woken where no lock is held.
    mutating func end(_ slot: Slot) -> [@Sendable () -> Void] {
        makings.removeValue(forKey: slot)?.waiters.map(\.wake) ?? []
    }

    /// Whether the making of a slot can't end before a thread goes on. Returns what is on the way round.
    private func circle(from slot: Slot, to thread: Maker) -> [ServiceKey]? {
        var keys: [ServiceKey] = []
        var (slot, seen) = (slot, Set<Slot>())
        while let making = makings[slot], seen.insert(slot).inserted {
            // What its maker makes from there on is needed for it.
            let needed = makings.filter { $0.value.maker == making.maker && $0.value.number >= making.number }
                .sorted { $0.value.number < $1.value.number }.map(\.key.key)
            guard making.maker != thread else { return needed + keys + [slot.key] }
            keys += needed
            guard let next = makings.first(where: { $0.value.waiters.contains { $0.thread == making.maker } }) else {
                return nil
            }
            slot = next.key
        }
        return nil
    }
}
