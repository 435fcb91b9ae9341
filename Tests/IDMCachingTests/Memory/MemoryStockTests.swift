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
        var table = TableModel<(value: Int, cost: Int)>()

        var count: Int { table.used.count }
        var cost: Int { table.used.reduce(0) { $0 + $1.payload.cost } }

        mutating func makeRoom() -> [Int] {
            var gone: [Int] = []
            while count > countLimit || cost > costLimit { gone += [table.removeLeastUsed()?.value].compactMap(\.self) }
            return gone
        }

        mutating func removeOldest(while shallGo: (Int) -> Bool) -> [Int] {
            var gone: [Int] = []
            while let oldest = table.oldest, shallGo(oldest.value) {
                gone += [table.removeOldest()?.value].compactMap(\.self)
            }
            return gone
        }

        mutating func remove(where shallGo: (_ key: Int, _ value: Int) -> Bool) -> [Int] {
            let doomed = table.used.filter { shallGo($0.key, $0.payload.value) }
            return doomed.compactMap { table.remove($0.key)?.value }
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
                let replaced = stock.insert(entry, key, key.hashValue)
                #expect(replaced?.payload.entry.value == model.table.insert((step, cost), key)?.value)
                #expect(stock.makeRoom().map(\.payload.entry.value) == model.makeRoom())
            case 9...15:
                #expect(stock.use(key, key.hashValue)?.value == model.table.use(key)?.value)
            case 16, 17:
                let gone = stock.remove(key, key.hashValue) { $0.value.isMultiple(of: 2) }
                let expected = model.remove { $0 == key && $1.isMultiple(of: 2) }
                #expect([gone?.payload.entry.value].compactMap(\.self) == expected)
            case 18:
                let gone = stock.removeOldest { !$0.value.isMultiple(of: 5) }
                #expect(gone.map(\.payload.entry.value) == model.removeOldest { !$0.isMultiple(of: 5) })
            default:
                let gone = stock.removeAll { $0.value.isMultiple(of: 7) }
                let expected = model.remove { $1.isMultiple(of: 7) }
                #expect(gone.map(\.payload.entry.value).sorted() == expected.sorted())
            }
            #expect(stock.count == model.count)
            #expect(stock.cost == Int64(model.cost))
        }
        #expect(stock.removeAll { _ in true }.count == model.count)
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
