import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

struct LaneTableTests {
    private let table = LaneTable(.only)

    private func identities(_ keys: [LaneKey?]) -> Set<ObjectIdentifier> {
        Set(keys.map { ObjectIdentifier(table.enter($0)) })
    }

    @Test func `a scheduler exists from the first call of its key to the last`() {
        let (key, other) = (LaneKey(base: 1), LaneKey(base: 2))
        let scheduler = table.enter(key)
        #expect(table.enter(key) === scheduler)
        #expect(table.enter(other) !== scheduler)

        table.leave(key)
        #expect(table.enter(key) === scheduler)
        for _ in 1...2 { table.leave(key) }

        #expect(table.schedulers().map(\.lane) == [other])
        #expect(table.enter(key) !== scheduler)
    }

    @Test func `a key that is unequal to itself gets a scheduler per call`() {
        let schedulers = (0..<3).map { _ in table.enter(LaneKey(base: Double.nan)) }
        #expect(Set(schedulers.map(ObjectIdentifier.init)).count == 3)

        for scheduler in schedulers { table.leave(scheduler.lane) }
        #expect(table.schedulers().isEmpty)
    }

    @Test func `ten thousand keys leave no scheduler and no key behind`() {
        final class Key: Hashable, Sendable {
            let number: Int
            init(_ number: Int) { self.number = number }
            static func == (left: Key, right: Key) -> Bool { left.number == right.number }
            func hash(into hasher: inout Hasher) { hasher.combine(number) }
        }
        weak var lastScheduler: LaneScheduler?
        weak var lastKey: Key?
        for number in 0..<10_000 {
            let key = Key(number)
            let scheduler = table.enter(LaneKey(base: key))
            scheduler.finish(scheduler.submit())
            table.leave(LaneKey(base: key))
            (lastScheduler, lastKey) = (scheduler, key)
        }

        #expect(table.schedulers().isEmpty)
        #expect(lastScheduler == nil)
        #expect(lastKey == nil)
    }

    @Test(arguments: [true, false])
    func `a release reaches the calls of every lane and later ones`(isKeyed: Bool) {
        let lanes = isKeyed ? Lanes.keyed(LaneTable(.default)) : .single(LaneScheduler(.default))
        let calls = (0..<3).map { _ in RecordingCall() }
        for (key, call) in calls.enumerated() { lanes.enter(LaneKey(base: key)).submit(call) }

        lanes.release()
        let late = lanes.enter(LaneKey(base: 9))
        let step = late.start(late.submit(), hasBeginHandler: false)

        #expect(calls.allSatisfy { $0.events == [.cancelTask, .deliver(.released, onMainActor: false)] })
        #expect(step == .deliverCancellation(.released))
    }

    @Test func `a released call may use its lanes`() {
        let lanes = Lanes.keyed(LaneTable(.default))
        let call = RecordingCall { _ in
            lanes.leave(lanes.enter(LaneKey(base: "other")))
            LaneScheduler.cancelAll(of: lanes.schedulers, isolation: nil)
            lanes.release()
        }
        lanes.enter(LaneKey(base: "one")).submit(call)

        lanes.release()

        #expect(call.events.count == 2)
    }

    // MARK: Keys

    @Test func `keys of different types are different`() {
        struct UserID: Hashable { let raw: Int }
        struct OrderID: Hashable { let raw: Int }
        let keys: [LaneKey?] = [
            LaneKey(base: UserID(raw: 1)), LaneKey(base: OrderID(raw: 1)), LaneKey(base: 1), LaneKey(base: "1"),
            LaneKey(base: [1]), LaneKey(base: true), LaneKey(base: Int?.none), nil,
        ]

        #expect(identities(keys).count == keys.count)
    }

    @Test func `equal numbers and optionals of different types are one key`() {
        let ones: [LaneKey?] = [
            LaneKey(base: 1), LaneKey(base: 1 as Int8), LaneKey(base: 1 as UInt64), LaneKey(base: 1.0),
            LaneKey(base: Optional(1)),
        ]

        #expect(identities(ones).count == 1)
        #expect(Set(ones.map(\.hashValue)).count == 1)
    }
}
