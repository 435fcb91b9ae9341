import TestSupport
import Testing

@testable import IDMCore

@Suite(.timeLimit(.ample))
struct LanesTests {
    // MARK: Gates

    @Test func `without keys all calls come to one gate`() {
        let lanes = Lanes.single(LaneScheduler(.one))
        let gate = lanes.enter(nil)
        #expect(lanes.enter(nil) === gate)
        lanes.leave(gate)
        lanes.leave(gate)
        #expect(lanes.enter(nil) === gate)
    }

    @Test func `calls of one key come to one gate, those of another to another`() {
        let lanes = Lanes.keyed(LaneTable(.one))
        let apple = lanes.enter(LaneKey(base: "apple"))
        let pear = lanes.enter(LaneKey(base: "pear"))
        #expect(apple !== pear)
        #expect(lanes.enter(LaneKey(base: "apple")) === apple)
        #expect(apple.enter(GuestMember(), .unheard, isolation: nil).entrance == .begun)
        #expect(pear.enter(GuestMember(), .unheard, isolation: nil).entrance == .begun)
        #expect(apple.enter(GuestMember(), .unheard, isolation: nil).entrance == .start)
    }

    @Test func `a gate lasts until the last call of its key has left`() {
        let table = LaneTable(.all)
        let key = LaneKey(base: 1)
        let gate = table.enter(key)
        #expect(table.enter(key) === gate)
        table.leave(key)
        #expect(table.enter(key) === gate)
        table.leave(key)
        table.leave(key)
        #expect(table.gates().isEmpty)
        #expect(table.enter(key) !== gate)
    }

    @Test func `leaving where nobody is does nothing`() {
        let table = LaneTable(.all)
        table.leave(LaneKey(base: 1))
        table.leave(nil)
        let gate = table.enter(LaneKey(base: 1))
        table.leave(LaneKey(base: 2))
        #expect(table.gates().count == 1)
        #expect(table.enter(LaneKey(base: 1)) === gate)
    }

    @Test func `a key that doesn't equal itself has a gate for each call, and leaves nothing behind`() {
        let table = LaneTable(.one)
        let lanes = Lanes.keyed(table)
        let gates = (0..<3).map { _ in lanes.enter(LaneKey(base: Double.nan)) }
        #expect(Set(gates.map { ObjectIdentifier($0) }).count == 3)
        #expect(table.gates().count == 3)
        for gate in gates { lanes.leave(gate) }
        #expect(table.gates().isEmpty)
    }

    @Test func `ten thousand keys leave nothing behind`() {
        final class Key: Hashable, Sendable {
            let number: Int
            init(_ number: Int) { self.number = number }
            static func == (left: Key, right: Key) -> Bool { left.number == right.number }
            func hash(into hasher: inout Hasher) { hasher.combine(number) }
        }
        let table = LaneTable(.line(width: 1, limit: .max))
        weak var lastGate: LaneScheduler?
        weak var lastKey: Key?
        for number in 0..<10_000 {
            let key = Key(number)
            let gate = table.enter(LaneKey(base: key))
            let ticket = gate.enter(GuestMember(), .unheard, isolation: nil).ticket
            #expect(gate.end(ticket) == .proceed)
            table.leave(LaneKey(base: key))
            (lastGate, lastKey) = (gate, key)
        }
        #expect(table.gates().isEmpty)
        #expect(lastGate == nil)
        #expect(lastKey == nil)
    }

    @Test func `ten thousand keys in use at once have ten thousand gates`() {
        let table = LaneTable(.all)
        let keys = (0..<10_000).map { LaneKey(base: $0) }
        let gates = keys.map { ObjectIdentifier(table.enter($0)) }
        #expect(Set(gates).count == keys.count)
        #expect(table.gates().count == keys.count)
        for key in keys { table.leave(key) }
        #expect(table.gates().isEmpty)
    }

    // MARK: The end

    @Test func `cancelling all reaches every lane, and lanes go on`() {
        let table = LaneTable(.one)
        let lanes = Lanes.keyed(table)
        let guests = (0..<5).map { key in
            let guest = GuestMember()
            _ = lanes.enter(LaneKey(base: key)).enter(guest, .unheard, isolation: nil)
            return guest
        }
        lanes.cancelAll(isolation: nil)
        for guest in guests { #expect(guest.events == [.stop, .takeOver(.cancelled, onMainActor: false)]) }
        for key in 0..<10 {
            #expect(lanes.enter(LaneKey(base: key)).enter(GuestMember(), .unheard, isolation: nil).entrance == .begun)
        }
    }

    @Test(arguments: [true, false])
    func `a release reaches every lane, and those that come after it`(isKeyed: Bool) {
        let lanes = isKeyed ? Lanes.keyed(LaneTable(.all)) : .single(LaneScheduler(.all))
        let guests = (0..<5).map { key in
            let guest = GuestMember()
            _ = lanes.enter(LaneKey(base: key)).enter(guest, .unheard, isolation: nil)
            return guest
        }
        lanes.release()
        for guest in guests { #expect(guest.events == [.stop, .takeOver(.released, onMainActor: false)]) }
        for key in 0..<10 {
            let gate = lanes.enter(LaneKey(base: key))
            let (ticket, entrance) = gate.enter(GuestMember(), .unheard, isolation: nil)
            #expect(entrance == .start)
            #expect(gate.voice(ticket) { $0.beginAndAsk() } == .cancelled(.released))
        }
    }

    @Test func `a call may use its lanes when it is released`() {
        let lanes = Lanes.keyed(LaneTable(.all))
        let guest = GuestMember { _ in
            let other = lanes.enter(LaneKey(base: "other"))
            lanes.leave(other)
            lanes.cancelAll(isolation: nil)
            lanes.release()
        }
        _ = lanes.enter(LaneKey(base: "one")).enter(guest, .unheard, isolation: nil)
        lanes.release()
        #expect(guest.events.count == 2)
    }

    // MARK: Keys

    @Test func `keys of one type are told apart by their value, also when their hashes collide`() {
        struct Colliding: Hashable {
            let number: Int
            func hash(into hasher: inout Hasher) {}
        }
        let table = LaneTable(.all)
        let gates = (0..<50).map { table.enter(LaneKey(base: Colliding(number: $0))) }
        #expect(Set(gates.map(ObjectIdentifier.init)).count == 50)
        for number in 0..<50 { #expect(table.enter(LaneKey(base: Colliding(number: number))) === gates[number]) }
        for number in 0..<25 {
            table.leave(LaneKey(base: Colliding(number: number)))
            table.leave(LaneKey(base: Colliding(number: number)))
        }
        for number in 25..<50 { #expect(table.enter(LaneKey(base: Colliding(number: number))) === gates[number]) }
        #expect(table.gates().count == 25)
    }

    @Test func `keys of different types are different, whatever they contain`() {
        struct UserID: Hashable { let raw: Int }
        struct OrderID: Hashable { let raw: Int }
        let keys = [
            LaneKey(base: UserID(raw: 1)), LaneKey(base: OrderID(raw: 1)), LaneKey(base: 1), LaneKey(base: "1"),
            LaneKey(base: [1]), LaneKey(base: true),
        ]
        #expect(Set(keys).count == keys.count)
    }

    @Test func `numbers and optionals that are equal as any hashable are one key, with one hash`() {
        let ones: [LaneKey] = [
            LaneKey(base: 1), LaneKey(base: 1 as Int8), LaneKey(base: 1 as UInt64), LaneKey(base: 1.0),
            LaneKey(base: Optional(1)),
        ]
        for key in ones {
            #expect(key == ones[0])
            #expect(key.hashValue == ones[0].hashValue)
        }
        let table = LaneTable(.one)
        let gate = table.enter(ones[0])
        #expect(ones.allSatisfy { table.enter($0) === gate })
        #expect(LaneKey(base: 1) != LaneKey(base: 2 as Int8))
    }

    @Test func `no key is a key`() {
        let table = LaneTable(.all)
        let gate = table.enter(nil)
        #expect(table.enter(nil) === gate)
        #expect(table.enter(LaneKey(base: Int?.none)) !== gate)
        table.leave(nil)
        table.leave(nil)
        #expect(table.gates().count == 1)
    }
}
