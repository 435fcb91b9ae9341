import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite(.timeLimit(.ample))
struct TicketTableTests {
    @Test func `an empty table names nothing`() {
        var table = SlotMap<String>()
        let ticket = CallID(slot: 0, serial: 1)
        #expect(table.count == 0)
        #expect(table.tickets.isEmpty)
        #expect(!table.contains(ticket))
        #expect(table[ticket] == nil)
        #expect(table.update(ticket) { _ in true } == nil)
        #expect(table.remove(ticket) == nil)
        #expect(table.count == 0)
    }

    @Test func `a ticket names its own element`() {
        var table = SlotMap<String>()
        let apple = table.insert("apple")
        let pear = table.insert("pear")
        #expect(apple != pear)
        #expect(table.count == 2)
        #expect(table[apple] == "apple")
        #expect(table[pear] == "pear")
    }

    @Test func `an element is changed in place`() {
        var table = SlotMap<[Int]>()
        let one = table.insert([1])
        let two = table.insert([2])
        let count = table.update(one) { element in
            element.append(3)
            return element.count
        }
        #expect(count == 2)
        #expect(table[one] == [1, 3])
        #expect(table[two] == [2])
    }

    @Test func `a ticket names nothing once its element is removed, also when the slot is used again`() {
        var table = SlotMap<String>()
        let apple = table.insert("apple")
        #expect(table.remove(apple) == "apple")
        #expect(table[apple] == nil)
        #expect(table.remove(apple) == nil)
        let pear = table.insert("pear")
        #expect(pear.slot == apple.slot)
        #expect(pear != apple)
        #expect(!table.contains(apple))
        #expect(table.update(apple) { _ in true } == nil)
        #expect(table.remove(apple) == nil)
        #expect(table.count == 1)
        #expect(table[pear] == "pear")
    }

    @Test func `slots are used again before new ones are made`() {
        var table = SlotMap<Int>()
        let tickets = (0..<8).map { table.insert($0) }
        for ticket in tickets[2...5] { table.remove(ticket) }
        let slots = Set((0..<4).map { table.insert($0).slot })
        #expect(slots == Set(tickets[2...5].map(\.slot)))
        #expect(table.insert(9).slot == 8)
    }

    @Test func `tickets come in the order in which they were given out, not in that of their slots`() {
        var table = SlotMap<Int>()
        let first = table.insert(1)
        let second = table.insert(2)
        table.remove(first)
        let third = table.insert(3)
        #expect(third.slot < second.slot)
        #expect(table.tickets == [second, third])
    }

    @Test func `a burst leaves nothing behind, and its tickets still name nothing`() {
        var table = SlotMap<Int>()
        let burst = (0..<1_000).map { table.insert($0) }
        for ticket in burst { table.remove(ticket) }
        #expect(table.count == 0)
        #expect(table.tickets.isEmpty)
        let next = table.insert(-1)
        #expect(next.slot == 0)
        #expect(!burst.contains { table.contains($0) })
        let again = (0..<1_000).map { table.insert($0) }
        #expect(!burst.contains { table.contains($0) })
        #expect(again.indices.allSatisfy { table[again[$0]] == $0 })
        #expect(table[next] == -1)
    }

    @Test func `an element is let go when it is removed`() {
        final class Object: Sendable {}
        var table = SlotMap<Object>()
        weak var object: Object?
        let ticket: CallID = {
            let made = Object()
            object = made
            return table.insert(made)
        }()
        #expect(object != nil)
        table.remove(ticket)
        #expect(object == nil)
    }

    @Test func `a table does as a dictionary does, whatever is added and removed`() {
        var random = SplitMix(seed: 42)
        var table = SlotMap<Int>()
        var dictionary: [CallID: Int] = [:]
        var given: [CallID] = []
        for round in 0..<20_000 {
            // Tides of adding and of removing, so that the table is empty again now and then.
            if random.next() % 8 < (round / 500 % 2 == 0 ? 5 : 2) {
                let ticket = table.insert(round)
                #expect(dictionary[ticket] == nil)
                dictionary[ticket] = round
                given.append(ticket)
            } else if let ticket = given.randomElement(using: &random) {
                #expect(table.remove(ticket) == dictionary.removeValue(forKey: ticket))
            }
            if table.count == 0 { given = given.suffix(50) }
            #expect(table.count == dictionary.count)
        }
        #expect(table.tickets == dictionary.keys.sorted { $0.serial < $1.serial })
        #expect(given.allSatisfy { table[$0] == dictionary[$0] })
    }
}
