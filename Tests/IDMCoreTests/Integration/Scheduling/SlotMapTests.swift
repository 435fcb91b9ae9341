import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

struct SlotMapTests {
    @Test func `an element is changed in place`() {
        var map = SlotMap<[Int]>()
        let (one, two) = (map.insert([1]), map.insert([2]))

        let count = map.update(one) { element in
            element.append(3)
            return element.count
        }

        #expect(count == 2)
        #expect([map[one], map[two]] == [[1, 3], [2]])
    }

    @Test func `the ID of a removed element matches nothing when its slot is reused`() {
        var map = SlotMap<String>()
        let apple = map.insert("apple")
        #expect(map.remove(apple) == "apple")

        let pear = map.insert("pear")

        #expect(pear.slot == apple.slot)
        #expect(!map.contains(apple) && map[apple] == nil)
        #expect(map.update(apple) { _ in true } == nil)
        #expect(map.remove(apple) == nil)
        #expect(map[pear] == "pear")
    }

    @Test func `IDs are listed in the order of insertion`() {
        var map = SlotMap<Int>()
        let ids = (0..<3).map { map.insert($0) }
        map.remove(ids[0])

        let last = map.insert(3)

        #expect(map.ids == [ids[1], ids[2], last])
    }

    @Test func `the IDs of an emptied burst match nothing later`() {
        var map = SlotMap<Int>()
        let burst = (0..<1_000).map { map.insert($0) }
        for id in burst { map.remove(id) }

        let next = (0..<1_000).map { map.insert($0) }

        #expect(next[0].slot == 0)
        #expect(!burst.contains { map.contains($0) })
        #expect(next.indices.allSatisfy { map[next[$0]] == $0 })
    }

    @Test func `a removed element is released`() {
        final class Object: Sendable {}
        var map = SlotMap<Object>()
        weak var object: Object?
        let id: CallID = {
            let made = Object()
            object = made
            return map.insert(made)
        }()

        map.remove(id)

        #expect(object == nil)
    }

    @Test func `random inserts and removes match a dictionary`() {
        var random = SplitMix(seed: 42)
        var map = SlotMap<Int>()
        var dictionary: [CallID: Int] = [:]
        var given: [CallID] = []
        var mismatches = 0
        for round in 0..<20_000 {
            // Alternates between mostly inserts and mostly removes, so that the map becomes empty now and then.
            if random.next() % 8 < (round / 500 % 2 == 0 ? 5 : 2) {
                let id = map.insert(round)
                if dictionary.updateValue(round, forKey: id) != nil { mismatches += 1 }
                given.append(id)
            } else if let id = given.randomElement(using: &random) {
                if map.remove(id) != dictionary.removeValue(forKey: id) { mismatches += 1 }
            }
            if map.count == 0 { given = given.suffix(50) }
            if map.count != dictionary.count { mismatches += 1 }
        }

        #expect(mismatches == 0)
        #expect(map.ids == dictionary.keys.sorted { $0.serial < $1.serial })
        #expect(given.allSatisfy { map[$0] == dictionary[$0] })
    }
}
