import Testing

@testable import IDMTesting

@Suite("Which of many requests the contract cancels")
struct CrowdCancelTests {
    private func cancelled(_ choice: CrowdCancel, inputCount: Int) -> [Bool] {
        (0..<20).map { choice.isMeant($0, of: CrowdSize(count: 20, inputCount: inputCount)) }
    }

    @Test("With each input the first is once, and the last, at once and later, and another is not", arguments: 1...20)
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

    @Test("Many are, most of them later, and of one input all but two", arguments: 1...20)
    func counts(inputCount: Int) {
        for choice in CrowdCancel.allCases {
            let count = cancelled(choice, inputCount: inputCount).count { $0 }
            let turn = min(inputCount, 10)
            #expect(choice.isLater ? 19 - turn...20 - turn ~= count : count == 10, "\(choice) \(count)")
        }
        #expect(inputCount > 1 || !cancelled(.mostAfterFirst, inputCount: 1)[10])
        #expect(inputCount > 1 || !cancelled(.mostBeforeLast, inputCount: 1)[9])
    }

    @Test("With several inputs, one of another input stands first of those that are not", arguments: 1...20)
    func outOfStep(inputCount: Int) {
        let first = cancelled(.everySecond, inputCount: inputCount).firstIndex(of: false) ?? 0
        #expect((first % inputCount == 0) == (inputCount == 1))
    }

    @Test("In ways that differ", arguments: 1...20)
    func ways(inputCount: Int) {
        let ways = CrowdCancel.ways(inputCount: inputCount).map { [$0.isLater] + cancelled($0, inputCount: inputCount) }
        #expect(Set(ways).count == ways.count && ways.count == (inputCount == 1 ? 4 : 5))
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

    @Test("Nobody is made with the first turn of the inputs, or the last, where that matters")
    func turns() {
        let size = CrowdSize(count: 20, inputCount: 4)
        #expect(size.lots(keepsTurns: true) == [0..<1, 1..<4, 4..<16, 16..<19, 19..<20])
        #expect(size.lots(keepsTurns: false) == [0..<1, 1..<19, 19..<20])
        let many = CrowdSize(count: 20, inputCount: 13)
        #expect(many.lots(keepsTurns: true) == [0..<1, 1..<10, 10..<19, 19..<20])
    }
}
