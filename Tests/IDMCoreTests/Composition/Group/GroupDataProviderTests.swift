import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite("A group", .timeLimit(.ample))
struct GroupDataProviderTests {
    @Test("gives each member its input and answers with a flat tuple")
    func tuple() async throws {
        let group = Doubler() >><< ClosureDataProvider { "\($0 as Int)" } >><< ValueDataProvider<Void, Bool>(true)
        let answer: (Int, String, Bool) = try await group.request((1, 2, ()))
        #expect(answer == (2, "2", true))
    }

    @Test("has all its members running at the same time")
    func together() async throws {
        let (first, second) = (ControlledDataProvider<Int, Int>(), ControlledDataProvider<Int, Int>())
        let task = Task { try await (first >><< second).request((1, 2)) }
        let (one, two) = (try await first.nextRequest(), try await second.nextRequest())
        #expect((one.input, two.input) == (1, 2))
        two.answer(20)
        one.answer(10)
        #expect(try await task.value == (10, 20))
    }

    @Test("fails with the first failure, cancels the others, and throws once they have ended")
    func failsFast() async throws {
        let log = Log()
        let (first, second) = (ControlledDataProvider<Int, Int>(), ControlledDataProvider<Int, Int>(hearsCancel: false))
        let clock = ManualClock()
        let task = Task(executorPreference: clock.executor) {
            defer { log.add("group") }
            return try await (first >><< second).request((1, 2))
        }
        let (one, two) = (try await first.nextRequest(), try await second.nextRequest())
        one.fail(Trouble.first)
        // The second is deaf: it hears the cancel and goes on, so the group waits for it.
        try await two.cancelled()
        await clock.run()
        #expect(log.entries.isEmpty)
        log.add("second")
        two.answer(1)
        await #expect(throws: Trouble.first) { try await task.value }
        #expect(log.entries == ["second", "group"])
    }

    @Test("with a branch that hangs fails when another fails, because the hung one is cancelled")
    func hungBranch() async throws {
        let (hung, failing) = (ControlledDataProvider<Int, Int>(), ControlledDataProvider<Int, Int>())
        let task = Task { try await (hung >><< failing).request((1, 2)) }
        let request = try await hung.nextRequest()
        try await failing.nextRequest().fail(Trouble.first)
        await #expect(throws: Trouble.first) { try await task.value }
        #expect(request.isCancelled)
        #expect(hung.requestCount == 1)
    }

    @Test("throws the first failure, not the cancellations that follow from it", arguments: 0..<50)
    func firstFailure(_ round: Int) async throws {
        let others = ControlledDataProvider<Int, Int>()
        let group = others >><< others >><< Failing(Trouble.second) >><< others
        await #expect(throws: Trouble.second) { try await group.request((1, 2, 3, 4)) }
    }

    @Test("asks none of the members that come after a failure at once, on an actor") @MainActor
    func failsBefore() async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let later = FailingAtFirst(0)
        await #expect(throws: Trouble.first) { try await (Failing(Trouble.first) >><< later).request((1, 2)) }
        #expect(later.count == 0)
    }

    @Test("asks nobody in a task that is cancelled already, collecting or not")
    func cancelledBefore() async throws {
        let member = FailingAtFirst(0)
        let gate = ControlledDataProvider<Int, Int>(hearsCancel: false)
        let task = Task {
            _ = try await gate.request(1)
            await #expect(throws: CancellationError.self) { try await (member >><< member).request((1, 2)) }
            await #expect(throws: CancellationError.self) {
                _ = try await (member >><< member).collectingResults().request((1, 2))
            }
        }
        let request = try await gate.nextRequest()
        task.cancel()
        request.answer(1)
        try await task.value
        #expect(member.count == 0)
    }

    @Test("cancels every member when it is cancelled")
    func cancel() async throws {
        let members = (0..<3).map { _ in ControlledDataProvider<Int, Int>() }
        let group = members[0] >><< members[1] >><< members[2]
        let task = Task { try await group.request((1, 2, 3)) }
        var requests: [ControlledRequest<Int, Int>] = []
        for member in members { requests.append(try await member.nextRequest()) }
        task.cancel()
        for request in requests { try await request.cancelled() }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("of a sequence of a group of a sequence, cancelled, cancels every provider that runs")
    func nestedCancel() async throws {
        let (left, right) = (ControlledDataProvider<Int, Int>(), ControlledDataProvider<Int, Int>())
        let behind = FailingAtFirst(0)
        let inner = (Doubler() >>>> left) >><< (Doubler() >>>> right >>>> behind)
        let outer = ClosureDataProvider { (number: Int) in (number, number) } >>>> inner >>>> { $0.0 + $0.1 }
        let task = Task { try await outer.request(1) }
        let (one, two) = (try await left.nextRequest(), try await right.nextRequest())
        task.cancel()
        try await one.cancelled()
        try await two.cancelled()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(behind.count == 0)
    }

    @Test("asks nobody twice, and may be asked many times at once")
    func manyRequests() async throws {
        let group = Doubler() >><< Doubler()
        try await withThrowingTaskGroup(of: Bool.self) { tasks in
            for number in 0..<1_000 {
                tasks.addTask { try await group.request((number, -number)) == (2 * number, -2 * number) }
            }
            for try await isRight in tasks { #expect(isRight) }
        }
    }

    @Test("on the left is extended, also from a let; grouped() keeps it whole")
    func extended() async throws {
        let pair = Doubler() >><< Doubler()
        let flat: (Int, Int, Int) = try await (pair >><< Doubler()).request((1, 2, 3))
        #expect(flat == (2, 4, 6))
        let nested: ((Int, Int), Int) = try await (pair.grouped() >><< Doubler()).request(((1, 2), 3))
        #expect(nested.0 == (2, 4))
        #expect(nested.1 == 6)
        let right: (Int, (Int, Int)) = try await (Doubler() >><< pair).request((1, (2, 3)))
        #expect(right.1 == (4, 6))
    }

    @Test("stays flat with eight members in one expression, and with four more")
    func twelve() async throws {
        let d = Doubler()
        // In one expression twelve take the compiler three seconds.
        let eight = d >><< d >><< d >><< d >><< d >><< d >><< d >><< d
        let group = eight >><< d >><< d >><< d >><< d
        typealias Twelve = (Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int)
        let answer: Twelve = try await group.request((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12))
        #expect(answer.0 == 2)
        #expect(answer.7 == 16)
        #expect(answer.11 == 24)
    }

    @Test("is of any arity by its initializer: one, fourteen, none")
    func arity() async throws {
        let d = Doubler()
        let one: Int = try await GroupDataProvider(d).request(1)
        #expect(one == 2)
        let many = GroupDataProvider(d, d, d, d, d, d, d, d, d, d, d, d, d, d)
        let answer = try await many.request((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14))
        #expect(answer.13 == 28)
        let none: Void = try await GroupDataProvider().request(())
        #expect(none == ())
    }

    @Test("takes the last value of a stream, and is none itself")
    func streams() async throws {
        let group = Listed(1, 2) >><< Doubler()
        #expect(try await group.request((0, 1)) == (2, 2))
        #expect(group.stream == nil)
    }

    @Test("that collects hears every member out")
    func collecting() async throws {
        let gate = ControlledDataProvider<Int, Int>()
        let group = (Failing(Trouble.first) >><< gate >><< Doubler()).collectingResults()
        let task = Task { try await group.request((1, 2, 3)) }
        let request = try await gate.nextRequest()
        request.answer(5)
        let results = try await task.value
        #expect(throws: Trouble.first) { try results.0.get() }
        #expect(try results.1.get() == 5)
        #expect(try results.2.get() == 6)
        #expect(!request.isCancelled)
    }

    @Test("that collects throws CancellationError when it is cancelled, and cancels every member")
    func collectingCancel() async throws {
        let (first, second) = (ControlledDataProvider<Int, Int>(), ControlledDataProvider<Int, Int>())
        let task = Task { try await (first >><< second).collectingResults().request((1, 2)) }
        let (one, two) = (try await first.nextRequest(), try await second.nextRequest())
        task.cancel()
        try await one.cancelled()
        try await two.cancelled()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
    }

    @Test("that collects takes a member's own cancellation as that member's failure")
    func collectingOwnCancellation() async throws {
        let results = try await (Failing(CancellationError()) >><< Doubler()).collectingResults().request((1, 2))
        #expect(throws: CancellationError.self) { try results.0.get() }
        #expect(try results.1.get() == 4)
    }
}
