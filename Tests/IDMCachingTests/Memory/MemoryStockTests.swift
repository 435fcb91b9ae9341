import IDMTesting
import TestSupport
import Testing

@testable import IDMCaching

/// What is in a cache, against a list that is too simple to be wrong.
@Suite("The stock of a memory cache", .timeLimit(.ample))
struct MemoryStockTests {
    private struct Model {
        let countLimit: Int
        let costLimit: Int
        /// The least recently used one first.
        var used: [(key: Int, value: Int, cost: Int)] = []
        var written: [Int] = []

        var cost: Int { used.reduce(0) { $0 + $1.cost } }

        mutating func remove(_ key: Int) -> Int? {
            written.removeAll { $0 == key }
            guard let index = used.firstIndex(where: { $0.key == key }) else { return nil }
            return used.remove(at: index).value
        }

        mutating func use(_ key: Int) -> Int? {
            guard let index = used.firstIndex(where: { $0.key == key }) else { return nil }
            used.append(used.remove(at: index))
            return used.last?.value
        }

        mutating func insert(_ value: Int, _ key: Int, cost: Int) -> Int? {
            let old = remove(key)
            used.append((key, value, cost))
            written.append(key)
            return old
        }

        mutating func makeRoom() -> [Int] {
            var gone: [Int] = []
            while used.count > countLimit || cost > costLimit { gone += [remove(used[0].key)].compactMap(\.self) }
            return gone
        }

        mutating func removeOldest(while shallGo: (Int) -> Bool) -> [Int] {
            var gone: [Int] = []
            while let key = written.first, let entry = used.first(where: { $0.key == key }), shallGo(entry.value) {
                gone += [remove(key)].compactMap(\.self)
            }
            return gone
        }
    }

    private func entry(_ value: Int, cost: Int) -> MemoryEntry<Int> {
        MemoryEntry(entry: CacheEntry(value, stamp: CacheStamp(time: .zero, era: 0)), cost: cost)
    }

    @Test(
        "It holds what the list holds, costs as much, and lets go of the same in the same order",
        arguments: [(1, 5), (7, 1_000), (1_000, 60), (12, 70)])
    func likeAList(countLimit: Int, costLimit: Int) {
        var random = SplitMix(seed: 11)
        var stock = MemoryStock<Int, Int>(countLimit: countLimit, costLimit: costLimit)
        var model = Model(countLimit: countLimit, costLimit: costLimit)
        for step in 0..<Volume.of(100_000, normally: 5_000) {
            let key = Int.random(in: 0..<30, using: &random)
            switch Int.random(in: 0..<20, using: &random) {
            case 0...8:
                let cost = Int.random(in: 0...12, using: &random)
                let entry = entry(step, cost: cost)
                #expect(stock.fits(entry) == (cost <= costLimit))
                guard stock.fits(entry) else { continue }
                #expect(stock.insert(entry, key, key.hashValue)?.entry.value == model.insert(step, key, cost: cost))
                #expect(stock.makeRoom().map(\.entry.value) == model.makeRoom())
            case 9...15:
                #expect(stock.use(key, key.hashValue)?.value == model.use(key))
            case 16, 17:
                let isEven = { (value: Int) in value.isMultiple(of: 2) }
                let shallGo = model.used.contains { $0.key == key && isEven($0.value) }
                let gone = stock.remove(key, key.hashValue) { isEven($0.value) }
                #expect(gone?.entry.value == (shallGo ? model.remove(key) : nil))
            case 18:
                let gone = stock.removeOldest { !$0.value.isMultiple(of: 5) }
                #expect(gone.map(\.entry.value) == model.removeOldest { !$0.isMultiple(of: 5) })
            default:
                let doomed = model.used.filter { $0.value.isMultiple(of: 7) }
                for entry in doomed { _ = model.remove(entry.key) }
                let gone = stock.removeAll { $0.value.isMultiple(of: 7) }
                #expect(gone.map(\.entry.value).sorted() == doomed.map(\.value).sorted())
            }
            #expect(stock.count == model.used.count)
            #expect(stock.cost == Int64(model.cost))
        }
        #expect(stock.removeAll { _ in true }.count == model.used.count)
        #expect(stock.count == 0 && stock.cost == 0)
    }

    @Test("Costs that would come to more than a number can tell never do")
    func greatCosts() {
        var stock = MemoryStock<Int, Int>(countLimit: .max, costLimit: .max)
        let great = entry(1, cost: .max / 2)
        for key in 0..<5 {
            #expect(stock.insert(great, key, key.hashValue) == nil)
            _ = stock.makeRoom()
            #expect(stock.cost == Int64(stock.count) * Int64(great.cost))
            #expect((0...Int64.max / 2).contains(stock.cost))
        }
    }
}
