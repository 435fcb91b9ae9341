import TestSupport
import Testing

@testable import IDMTesting

@Suite("Which of many requests the contract cancels", .timeLimit(.ample))
struct CrowdCancelTests {
    private func cancelled(_ choice: CrowdCancel, inputCount: Int) -> [Bool] {
        (0..<20).map { choice.isMeant($0, of: CrowdSize(count: 20, inputCount: inputCount)) }
    }

    @Test("With each input the first and the last are, at once and later, and then another is not", arguments: 1...20)
    func leaders(inputCount: Int) {
        for isLater in [false, true] {
            let ways = CrowdCancel.ways(inputCount: inputCount).filter {
                $0.isLater == isLater && ($0.keepsTurns || inputCount == 1)
            }
            for input in 0..<inputCount {
                let numbers = Array(stride(from: input, to: 20, by: inputCount))
                guard numbers.count > 1 else { continue }
                let choices = ways.map { way in
                    let cancelled = cancelled(way, inputCount: inputCount)
                    return numbers.map { cancelled[$0] }
                }
                #expect(choices.contains { $0.first == true && $0.contains(false) }, "\(isLater) \(input)")
                #expect(choices.contains { $0.last == true && $0.contains(false) }, "\(isLater) \(input)")
            }
        }
    }

    @Test("Many are, and where chance says who works, almost all of few inputs", arguments: 1...20)
    func counts(inputCount: Int) {
        for choice in CrowdCancel.allCases {
            let cancelled = cancelled(choice, inputCount: inputCount)
            let count = cancelled.count { $0 }
            switch choice {
            case .everySecond, .firstHalf, .lastHalf, .lastHalfLater: #expect(count == 10, "\(choice)")
            case .mostAfterFirst: #expect(count == 18 && !cancelled[0] && !cancelled[10])
            case .mostBeforeLast:
                #expect(!cancelled.suffix(min(inputCount, 10)).contains(true))
                #expect(inputCount < 10 ? count == 19 - inputCount && !cancelled[9] : count == 10, "\(count)")
            }
        }
    }

    @Test("With several inputs, one of another input stands first of those that are not", arguments: 1...20)
    func outOfStep(inputCount: Int) {
        let first = cancelled(.everySecond, inputCount: inputCount).firstIndex(of: false) ?? 0
        #expect((first % inputCount == 0) == (inputCount == 1))
    }

    @Test("In ways that differ", arguments: 1...20)
    func ways(inputCount: Int) {
        let ways = CrowdCancel.ways(inputCount: inputCount).map { [$0.isLater] + cancelled($0, inputCount: inputCount) }
        #expect(Set(ways).count == ways.count && ways.count == (inputCount == 1 ? 4 : 6))
    }

    @Test("Each of so many is made once, the first and the last alone, whatever their count", arguments: 1...20)
    func lots(inputCount: Int) {
        for count in 1...20 {
            for keepsTurns in [false, true] {
                let lots = CrowdSize(count: count, inputCount: inputCount).lots(keepsTurns: keepsTurns)
                #expect(lots.flatMap(Array.init) == Array(0..<count), "\(count)")
                #expect(lots[0].count == 1 && lots.last?.count == 1, "\(count)")
            }
        }
    }

    @Test("Nobody is made with the first turn of the inputs, or the last, where that matters", arguments: 1...20)
    func turns(inputCount: Int) {
        let size = CrowdSize(count: 20, inputCount: inputCount)
        #expect(size.turn == min(inputCount, 10))
        for lot in size.lots(keepsTurns: true) {
            #expect(Set(lot.map { ($0 < size.turn ? 1 : 0) - ($0 < 20 - size.turn ? 0 : 1) }).count == 1, "\(lot)")
        }
        #expect(size.lots(keepsTurns: false) == [0..<1, 1..<19, 19..<20])
    }
}
