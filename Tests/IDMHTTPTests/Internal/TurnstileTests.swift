import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A turnstile", .timeLimit(.ample))
struct TurnstileTests {
    /// So many who come, go, and give up, in any order.
    private struct Walk: Explorable {
        enum Guest: Hashable { case outside, inside, waiting(Int), gone }
        enum Move { case enter(Int), leave(Int), giveUp(Int) }

        let width: Int
        var turnstile: Turnstile<Int>
        var guests: [Guest]
        var order: [Int] = []

        init(width: Int, guests: Int) {
            self.width = width
            turnstile = Turnstile(width: width)
            self.guests = Array(repeating: .outside, count: guests)
        }

        struct Footprint: Hashable {
            let guests: [Guest]
            let order: [Int]
        }

        var footprint: Footprint { Footprint(guests: guests, order: order) }

        var moves: [Move] {
            guests.indices.flatMap { index -> [Move] in
                switch guests[index] {
                case .outside: [.enter(index)]
                case .inside: [.leave(index)]
                case .waiting: [.giveUp(index)]
                case .gone: []
                }
            }
        }

        mutating func make(_ move: Move) throws(Violation) {
            switch move {
            case .enter(let index):
                if let place = turnstile.enter(index) {
                    guests[index] = .waiting(place)
                    order.append(index)
                } else {
                    try require(order.isEmpty, "somebody was overtaken")
                    guests[index] = .inside
                }
            case .leave(let index):
                guests[index] = .gone
                let next = turnstile.leave()
                try require(next == order.first, "\(String(describing: next)) came in, and not \(order)")
                if let next {
                    order.removeFirst()
                    guests[next] = .inside
                }
            case .giveUp(let index):
                guard case .waiting(let place) = guests[index] else { return }
                try require(turnstile.giveUp(place) == index, "somebody else gave up")
                try require(turnstile.giveUp(place) == nil, "gave up twice")
                guests[index] = .gone
                order.removeAll { $0 == index }
            }
            let inside = guests.filter { $0 == .inside }.count
            try require(inside <= width, "too many are inside")
            try require(order.isEmpty || inside == width, "somebody waits for nothing")
            try require(turnstile.counts == (inside, order.count), "\(turnstile.counts)")
        }
    }

    @Test("lets as many in as there is room for, in their order, explored", arguments: [1, 2, 3])
    func explored(width: Int) {
        let exploration = Exploration(of: Walk(width: width, guests: 5))

        #expect(exploration.violation == nil)
        #expect(exploration.states > 300)
    }
}
