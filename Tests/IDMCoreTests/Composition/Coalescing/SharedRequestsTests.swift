import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite("SharedRequests", .timeLimit(.ample))
struct SharedRequestsTests {
    @Test("start when the first subscriber asks, not when a subscription is taken")
    func start() async throws {
        let provider = FailingAtFirst(0)
        let requests = SharedRequests<Int, Int, Int>(provider: provider, closesWhenFinished: false)
        let subscription = requests.join(1, 5)
        #expect(provider.count == 0)
        #expect(try await subscription.request(0) == 5)
        #expect(provider.count == 1)
    }

    @Test("don't start for who was cancelled before it asks, and let the subscription go")
    func cancelledBefore() async {
        let provider = FailingAtFirst(0)
        let requests = SharedRequests<Int, Int, Int>(provider: provider, closesWhenFinished: false)
        let subscription = requests.join(1, 5)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await subscription.request(0)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(provider.count == 0)
        #expect(requests.isEmpty)
    }

    @Test("stay joinable until somebody leaves after the answer, unless they close with it", arguments: [false, true])
    func joinable(closes: Bool) async throws {
        let provider = FailingAtFirst(0)
        let requests = SharedRequests<Int, Int, Int>(provider: provider, closesWhenFinished: closes)
        let first = requests.join(1, 5)
        #expect(try await first.request(0) == 5)
        let late = requests.join(1, 5)
        #expect(try await late.request(0) == 5)
        #expect(provider.count == (closes ? 2 : 1))
        first.leave()
        let next = requests.join(1, 5)
        #expect(try await next.request(0) == 5)
        #expect(provider.count == (closes ? 3 : 2))
        late.leave()
        next.leave()
        #expect(requests.isEmpty)
    }

    @Test("deliver every value to every subscription, beginning with the latest for who comes late")
    func streamValues() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let requests = SharedRequests<Int, Int, Int>(provider: stream, closesWhenFinished: false)
        let early = requests.join(1, 0)
        #expect(early.deliversMany)
        let first = Task { await collect(early, 0).values }
        let request = try await stream.nextRequest()
        request.send(1)
        request.send(2)
        // A subscription that is there but doesn't ask loses nothing.
        let silent = requests.join(1, 0)
        let witness = requests.join(1, 0)
        var walk = witness.values(for: 0).makeAsyncIterator()
        let latest = try await walk.next()
        request.send(3)
        request.finish()
        #expect(await first.value == [1, 2, 3])
        var rest: [Int] = []
        while let value = try await walk.next() { rest.append(value) }
        #expect([latest].compactMap(\.self) + rest == Array((latest ?? 0)...3))
        let kept = await collect(silent, 0).values
        #expect(kept.last == 3)
        #expect(kept == Array((kept.first ?? 0)...3))
        let late = requests.join(1, 0)
        #expect(await collect(late, 0).values == [3])
    }

    @Test("let a subscription go that nobody holds any more")
    func droppedSubscription() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let requests = SharedRequests<Int, Int, Int>(provider: provider, closesWhenFinished: false)
        do {
            let subscription = requests.join(1, 1)
            let task = Task { [subscription] in try await subscription.request(0) }
            let request = try await provider.nextRequest()
            task.cancel()
            try await request.cancelled()
            _ = await task.result
        }
        do { _ = requests.join(2, 2) }
        #expect(requests.isEmpty)
    }

    @Test("leaving twice is leaving once, and a subscription that was left gives nothing")
    func leaveTwice() async throws {
        let requests = SharedRequests<Int, Int, Int>(provider: Doubler(), closesWhenFinished: false)
        let subscription = requests.join(1, 1)
        let other = requests.join(1, 1)
        subscription.leave()
        subscription.leave()
        await #expect(throws: CancellationError.self) { try await subscription.request(0) }
        #expect(try await other.request(0) == 2)
    }

    @Test("report the progress to every subscription that has asked")
    func progress() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let requests = SharedRequests<Int, Int, Int>(provider: provider, closesWhenFinished: false)
        let logs = [ProgressLog(), ProgressLog()]
        let subscriptions = [requests.join(1, 1), requests.join(1, 1)]
        let first = Task { try await logs[0].reporter.ambient { try await subscriptions[0].request(0) } }
        let request = try await provider.nextRequest()
        request.reporter?.report(fraction: 0.25)
        #expect(logs[0].fractions == [0.25])
        request.answer(1)
        _ = try await first.value
        // Late, but it hears what comes while it sits there.
        _ = try await logs[1].reporter.ambient { try await subscriptions[1].request(0) }
        request.reporter?.report(fraction: 1)
        #expect(logs[0].fractions == [0.25, 1])
        #expect(logs[1].fractions == [1])
    }
}
