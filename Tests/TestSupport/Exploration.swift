import IDMTesting

/// A system of which every order of moves can be walked.
package protocol Explorable {
    associatedtype Move
    associatedtype Footprint: Hashable

    /// The part of the state that decides about the future.
    var footprint: Footprint { get }

    /// The possible moves.
    var moves: [Move] { get }

    /// Makes a move, and checks that what came of it is right.
    mutating func make(_ move: Move) throws(Violation)
}

/// A rule that was broken.
package struct Violation: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

package func require(_ condition: Bool, _ rule: @autoclosure () -> String) throws(Violation) {
    if !condition { throw Violation(rule()) }
}

/// The result of a walk through all reachable states.
package struct Exploration {
    package private(set) var states = 0
    package private(set) var moves = 0
    /// The first broken rule, with the moves that led to it.
    package private(set) var violation: String?

    /// Walks through every order of moves, depth first. A state that has been seen isn't walked again.
    package init<System: Explorable>(of system: System) {
        var seen: Set<System.Footprint> = [system.footprint]
        var open = [(system, Trail<System.Move>.start)]
        while let (current, trail) = open.popLast() {
            states += 1
            for move in current.moves {
                moves += 1
                var next = current
                do {
                    try next.make(move)
                } catch {
                    violation = "\(error)\n  after \(trail.moves.map { "\($0)" }.joined(separator: ", ")), \(move)"
                    return
                }
                if seen.insert(next.footprint).inserted {
                    open.append((next, .after(trail, move)))
                }
            }
        }
    }

    /// Walks at random, and never turns back: further than every order can be walked, and with nothing taken for the
    /// same.
    package init<System: Explorable>(of system: System, walks: Int, length: Int) {
        var random = SplitMix(seed: 42)
        for _ in 0..<walks {
            var current = system
            var trail: [System.Move] = []
            while trail.count < length, let move = current.moves.randomElement(using: &random) {
                moves += 1
                trail.append(move)
                do {
                    try current.make(move)
                } catch {
                    violation = "\(error)\n  after \(trail.map { "\($0)" }.joined(separator: ", "))"
                    return
                }
            }
        }
    }
}

/// The moves that led to a state.
private indirect enum Trail<Move> {
    case start
    case after(Trail, Move)

    var moves: [Move] {
        switch self {
        case .start: []
        case .after(let trail, let move): trail.moves + [move]
        }
    }
}
