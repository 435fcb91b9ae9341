import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("The line of transfers", .timeLimit(.ample))
struct TransferLineTests {
    @Test("has the one next that a search through all would find", arguments: 0..<20 as Range<UInt64>)
    func order(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var line = TransferLine()
        var waiting: [String: (priority: TransferPriority, turn: Int)] = [:]
        for turn in 0..<500 {
            let id = "\(Int.random(in: 0..<100, using: &random))"
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1, 2:
                // Another place, the same once more, or the same turn with another priority.
                let priority = TransferPriority.allCases.randomElement(using: &random) ?? .normal
                let turn = Bool.random(using: &random) ? turn : waiting[id]?.turn ?? turn
                for _ in 0..<2 { line.add(id, priority, turn: turn) }
                waiting[id] = (priority, turn)
            default:
                for _ in 0..<2 { line.remove(id) }
                waiting[id] = nil
            }
            let next = waiting.max { ($0.value.priority, $1.value.turn) < ($1.value.priority, $0.value.turn) }
            #expect(line.next() == next?.key && line.counts.waiting == waiting.count)
            #expect(line.counts.places <= 2 * waiting.count + 32)
        }
    }

    @Test("keeps nothing of places that were taken again and again")
    func again() {
        var line = TransferLine()
        for turn in 0..<1_000 { line.add("\(turn)", .normal, turn: turn) }
        for round in 0..<980 { line.add("500", round.isMultiple(of: 2) ? .high : .normal, turn: 500) }
        for turn in 0..<1_000 where turn != 500 { line.remove("\(turn)") }
        let next = line.next()
        #expect(line.counts.waiting == 1 && line.counts.places <= 34 && next == "500")
    }
}
