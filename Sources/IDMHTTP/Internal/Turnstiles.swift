internal import IDMCore

/// A turnstile for each of many places.
///
/// Places come and go: those that nobody is in aren't kept.
final class Turnstiles<Place: Hashable & Sendable, Waiter: Sendable>: Sendable {
    private let width: Int
    private let turnstiles = Locked<[Place: Turnstile<Waiter>]>([:])

    /// - Parameter width: How many may be in one place at once. Less than one is one.
    init(width: Int) {
        self.width = width
    }

    /// How many are in a place, and how many wait.
    func counts(_ place: Place) -> (inside: Int, waiting: Int) {
        turnstiles.withLock { $0[place]?.counts ?? (0, 0) }
    }

    /// Lets somebody in, or gives a number in the queue.
    func enter(_ place: Place, _ waiter: Waiter) -> Int? {
        turnstiles.withLock { $0[place, default: Turnstile(width: width)].enter(waiter) }
    }

    /// Somebody goes out. Returns who comes in instead.
    func leave(_ place: Place) -> Waiter? {
        turnstiles.withLock { turnstiles in
            let next = turnstiles[place]?.leave()
            if turnstiles[place]?.counts.inside == 0 { turnstiles[place] = nil }
            return next
        }
    }

    /// Somebody waits no longer. Nil if it is in already.
    func giveUp(_ place: Place, _ number: Int) -> Waiter? {
        turnstiles.withLock { $0[place]?.giveUp(number) }
    }
}
