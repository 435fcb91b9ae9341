import TestSupport
import IDMTesting
import Testing

@testable import IDMCaching

/// A table against a list that is too simple to be wrong.
@Suite("The table of a memory cache", .timeLimit(.ample))
struct RecencyTableTests {
    @Test("What can't be found by its key leaves nevertheless when it is its turn")
    func notEqualToItself() {
        var table = RecencyTable<Double, Int>()
        for number in 0..<10 { _ = table.insert(number, .nan, 7) }
        #expect(table.removeLeastUsed() == 0)
        #expect(table.removeOldest() == 1)
        #expect(table.removeAll { $0 > 5 } == [6, 7, 8, 9])
        for number in 2..<6 { #expect(table.removeLeastUsed() == number) }
        #expect(table.removeLeastUsed() == nil && table.count == 0)
    }

    private struct Model {
        var used: [(key: Int, payload: Int)] = []
        var written: [Int] = []

        mutating func remove(_ key: Int) -> Int? {
            written.removeAll { $0 == key }
            guard let index = used.firstIndex(where: { $0.key == key }) else { return nil }
            return used.remove(at: index).payload
        }

        mutating func use(_ key: Int) -> Int? {
            guard let index = used.firstIndex(where: { $0.key == key }) else { return nil }
            used.append(used.remove(at: index))
            return used.last?.payload
        }

        mutating func insert(_ payload: Int, _ key: Int) -> Int? {
            let old = remove(key)
            used.append((key, payload))
            written.append(key)
            return old
        }
    }

    @Test("Every operation does what a list would, also where all hashes collide", arguments: [1, 3, 64, 1 << 40])
    func likeAList(hashes: Int) {
        var random = SplitMix(seed: 7)
        var table = RecencyTable<Int, Int>()
        var model = Model()
        for step in 0..<Volume.of(200_000, normally: 10_000) {
            let key = Int.random(in: 0..<40, using: &random)
            let hash = (key &* 0x9e37_79b9) % hashes
            let answers: (Int?, Int?)
            switch Int.random(in: 0..<10, using: &random) {
            case 0...3: answers = (table.insert(step, key, hash), model.insert(step, key))
            case 4...6: answers = (table.use(key, hash), model.use(key))
            case 7: answers = (table.remove(key, hash), model.remove(key))
            case 8: answers = (table.removeLeastUsed(), model.used.first.flatMap { model.remove($0.key) })
            default: answers = (table.removeOldest(), model.written.first.flatMap { model.remove($0) })
            }
            #expect(answers.0 == answers.1)
            #expect(table.count == model.used.count)
            let oldest = model.written.first
            #expect(table.oldestPayload == model.used.first { $0.key == oldest }?.payload)
        }
        let rest = table.removeAll { $0.isMultiple(of: 2) }
        #expect(Set(rest) == Set(model.used.map(\.payload).filter { $0.isMultiple(of: 2) }))
        for (key, payload) in model.used {
            let hash = (key &* 0x9e37_79b9) % hashes
            #expect(table.payload(key, hash) == (payload.isMultiple(of: 2) ? nil : payload))
        }
    }
}
