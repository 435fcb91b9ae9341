import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A concurrency limiter", .timeLimit(.ample))
struct ConcurrencyLimiterTests {
    /// Members that enter, leave and cancel, in any order.
    private struct Walk: Explorable {
        enum Guest: Hashable { case outside, inside, waiting(Int), gone }
        enum Move { case enter(Int), leave(Int), cancel(Int) }

        let limit: Int
        var limiter: ConcurrencyLimiter<Int>
        var guests: [Guest]
        var order: [Int] = []

        init(limit: Int, guests: Int) {
            self.limit = limit
            limiter = ConcurrencyLimiter(limit: limit)
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
                case .waiting: [.cancel(index)]
                case .gone: []
                }
            }
        }

        mutating func make(_ move: Move) throws(Violation) {
            switch move {
            case .enter(let index):
                if let place = limiter.enter(index) {
                    guests[index] = .waiting(place)
                    order.append(index)
                } else {
                    try require(order.isEmpty, "a waiter was overtaken")
                    guests[index] = .inside
                }
            case .leave(let index):
                guests[index] = .gone
                let next = limiter.leave()
                try require(next == order.first, "\(String(describing: next)) came in, and not \(order)")
                if let next {
                    order.removeFirst()
                    guests[next] = .inside
                }
            case .cancel(let index):
                guard case .waiting(let place) = guests[index] else { return }
                try require(limiter.cancel(place) == index, "another waiter was cancelled")
                try require(limiter.cancel(place) == nil, "was cancelled twice")
                guests[index] = .gone
                order.removeAll { $0 == index }
            }
            let inside = guests.filter { $0 == .inside }.count
            try require(inside <= limit, "too many are running")
            try require(order.isEmpty || inside == limit, "a waiter waits below the limit")
            try require(limiter.counts == (inside, order.count), "\(limiter.counts)")
        }
    }

    @Test("every order of events keeps the limit and the FIFO order", arguments: [1, 2, 3])
    func explored(limit: Int) {
        let exploration = Exploration(of: Walk(limit: limit, guests: 5))

        #expect(exploration.violation == nil)
        #expect(exploration.states > 300)
    }
}
