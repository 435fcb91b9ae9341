import IDMCore
import TestSupport
import Testing

@testable import IDMTesting

@Suite("Which of many requests the contract cancels")
struct CrowdCancelTests {
    private func cancelled(_ choice: CrowdCancel, inputCount: Int) -> [Bool] {
        (0..<20).map { choice.isMeant($0, of: CrowdSize(count: 20, inputCount: inputCount)) }
    }

    @Test("at once: of each input some are, and some are not", arguments: 1...20)
    func atOnce(inputCount: Int) {
        for choice in [CrowdCancel.everySecond, .everySecondTurn] {
            let cancelled = cancelled(choice, inputCount: inputCount)
            #expect(!choice.isLater && 7...13 ~= cancelled.count { $0 }, "\(choice)")
            for input in 0..<inputCount {
                let own = stride(from: input, to: 20, by: inputCount).map { cancelled[$0] }
                #expect(own.count < 2 || Set(own) == [true, false], "\(choice) \(input)")
                // The first is where it goes by turns of the inputs.
                #expect(own.count < 2 || choice == .everySecond || own.first == true, "\(input)")
            }
        }
    }

    @Test("at once: with several inputs, others stand where they wouldn't if nobody was", arguments: 1...20)
    func outOfStep(inputCount: Int) {
        let spared = zip(0..<20, cancelled(.everySecond, inputCount: inputCount)).filter { !$0.1 }.map(\.0)
        let isInStep = zip(0..., spared).allSatisfy { $0 % inputCount == $1 % inputCount }
        #expect(isInStep == (inputCount == 1))
    }

    @Test("later: most are, but not the first, or not the last with each input", arguments: 1...20)
    func later(inputCount: Int) {
        let afterFirst = cancelled(.mostAfterFirst, inputCount: inputCount)
        #expect(CrowdCancel.mostAfterFirst.isLater && !afterFirst[0] && afterFirst.count { $0 } == 18)
        let beforeLast = cancelled(.mostBeforeLast, inputCount: inputCount)
        #expect(CrowdCancel.mostBeforeLast.isLater && beforeLast.count { $0 } >= 9)
        let size = CrowdSize(count: 20, inputCount: inputCount)
        #expect(beforeLast.suffix(size.turn).allSatisfy { !$0 } && size.turn == min(inputCount, 10))
    }

    @Test("in ways that differ", arguments: 1...20)
    func ways(inputCount: Int) {
        let ways = CrowdCancel.ways(inputCount: inputCount).map { cancelled($0, inputCount: inputCount) }
        #expect(Set(ways).count == ways.count && ways.count == (inputCount == 1 ? 3 : 4))
    }

    @Test("Each of so many is made once, whatever their count", arguments: 1...20)
    func lots(inputCount: Int) {
        for count in 1...20 {
            let lots = CrowdSize(count: count, inputCount: inputCount).lots
            #expect(lots.flatMap(Array.init) == Array(0..<count) && lots[0].count == 1 && lots.last?.count == 1)
        }
    }

    @Test("Nobody overtakes the first with an input, or is overtaken by the last, in whatever order tasks run")
    func order() async throws {
        let orders = Watched<Set<[Int]>>([])
        try await explore(seeds: 1...50) { _ in
            let asked = Watched<[Int]>([])
            let provider = ClosureDataProvider { (input: Int) in
                asked.change { $0.append(input) }
                return input
            }
            let check = ContractCheck(
                input: 0, others: ([1, 2, 3], { $0 == $1 }), patience: .init(clock: ManualClock()), make: { provider })
            let trials = await check.ask(20, provider)
            for trial in trials { try await trial.ended() }
            try #require(trials.map(\.answer) == (0..<20).map { $0 % 4 })
            let order = asked.value
            try #require(order.first == 0 && Set(order.prefix(4)) == [0, 1, 2, 3])
            try #require(order.last == 3 && Set(order.suffix(4)) == [0, 1, 2, 3])
            orders.change { _ = $0.insert(Array(order[4..<16])) }
        }
        // The others are asked together.
        #expect(orders.value.count > 1)
    }
}
