import IDMTesting
import TestSupport
import Testing

@testable import IDMCaching

/// A table against a list that is too simple to be wrong.
@Suite("The table of a memory cache", .timeLimit(.ample))
struct RecencyTableTests {
    @Test("What can't be found by its key leaves nevertheless when it is its turn")
    func notEqualToItself() {
        var table = RecencyTable<Double, Int>()
        for number in 0..<10 { _ = table.insert(number, .nan, 7) }
        #expect(table.removeLeastUsed()?.payload == 0)
        #expect(table.removeOldest()?.payload == 1)
        #expect(table.removeAll { $0 > 5 }.map(\.payload) == [6, 7, 8, 9])
        for number in 2..<6 { #expect(table.removeLeastUsed()?.payload == number) }
        #expect(table.removeLeastUsed() == nil && table.count == 0)
    }

    @Test("Every operation does what a list would, also where all hashes collide", arguments: [1, 3, 64, 1 << 40])
    func likeAList(hashes: Int) {
        var random = SplitMix(seed: 7)
        var table = RecencyTable<Int, Int>()
        var model = TableModel<Int>()
        for step in 0..<Volume.of(200_000, normally: 10_000) {
            let key = Int.random(in: 0..<40, using: &random)
            let hash = (key &* 0x9e37_79b9) % hashes
            let answers: (Int?, Int?)
            switch Int.random(in: 0..<10, using: &random) {
            case 0...3: answers = (table.insert(step, key, hash)?.payload, model.insert(step, key))
            case 4...6: answers = (table.use(key, hash), model.use(key))
            case 7: answers = (table.remove(key, hash)?.payload, model.remove(key))
            case 8: answers = (table.removeLeastUsed()?.payload, model.removeLeastUsed())
            default: answers = (table.removeOldest()?.payload, model.removeOldest())
            }
            #expect(answers.0 == answers.1)
            #expect(table.count == model.used.count)
            #expect(table.oldestPayload == model.oldest)
        }
        let rest = table.removeAll { $0.isMultiple(of: 2) }
        #expect(rest.allSatisfy { gone in model.used.contains { $0 == gone } })
        #expect(Set(rest.map(\.payload)) == Set(model.used.map(\.payload).filter { $0.isMultiple(of: 2) }))
        for (key, payload) in model.used {
            let hash = (key &* 0x9e37_79b9) % hashes
            #expect(table.payload(key, hash) == (payload.isMultiple(of: 2) ? nil : payload))
        }
    }
}
