import TestSupport
import Testing

@testable import IDMOperations

@Suite("The life of a registry", .timeLimit(.ample))
struct RegistryLifeTests {
    @Test func `explored: it ends once, closed, and when nothing needs it any more`() {
        let exploration = Exploration(of: Walk(budget: 9))
        #expect(exploration.violation == nil)
        #expect(exploration.states > 50, "\(exploration.states) states, \(exploration.moves) moves")
    }

    private struct Walk: Explorable {
        enum Move: Hashable { case begin, end, close }

        struct Footprint: Hashable {
            let needs: Int
            let isClosed: Bool
            let ends: Int
            let budget: Int
        }

        private var life = RegistryLife()
        private var needs = 0
        private var isClosed = false
        private var ends = 0
        private var budget: Int

        init(budget: Int) { self.budget = budget }

        var footprint: Footprint { Footprint(needs: needs, isClosed: isClosed, ends: ends, budget: budget) }

        var moves: [Move] {
            budget == 0 ? [] : needs > 0 ? [.begin, .end, .close] : [.begin, .close]
        }

        mutating func make(_ move: Move) throws(Violation) {
            budget -= 1
            switch move {
            case .begin:
                try require(life.begin() != isClosed, "something begins after the end, or nothing before")
                if !isClosed { needs += 1 }
            case .end:
                needs -= 1
                if life.end() { ends += 1 }
            case .close:
                let isEnd = life.close()
                try require((isEnd == nil) == isClosed, "it is closed twice, or not at all")
                isClosed = true
                if isEnd == true { ends += 1 }
            }
            try require(life.isClosed == isClosed, "it doesn't know whether it is closed")
            try require(ends == (isClosed && needs == 0 ? 1 : 0), "\(ends) ends with \(needs) that need it")
        }
    }
}
