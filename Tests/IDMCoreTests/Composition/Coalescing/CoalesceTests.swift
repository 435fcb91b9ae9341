import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite("Coalesced requests", .timeLimit(.ample))
struct CoalesceTests {
    /// Takes a subscription for each of several requests before the first of them can be answered.
    private func join(
        _ count: Int, _ provider: ControlledDataProvider<Int, Int>
    ) async throws -> (tasks: [Task<Int, any Error>], request: ControlledRequest<Int, Int>) {
        let keys = Log()
        let coalesced = provider.coalesced { input in
            keys.add("key")
            return input
        }
        var tasks: [Task<Int, any Error>] = []
        for index in 0..<count {
            tasks.append(Task { try await coalesced.request(1) })
            try await keys.count(reaches: index + 1)
        }
        return (tasks, try await provider.nextRequest())
    }

    @Test("with equal inputs share one request; others don't")
    func share() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let requests = SharedRequests<Int, Int, Int>(provider: provider, closesWhenFinished: true)
        let subscriptions = [requests.join(1, 1), requests.join(1, 1), requests.join(2, 2)]
        let tasks = subscriptions.map { subscription in Task { try await subscription.request(0) } }
        for _ in 0..<2 {
            let request = try await provider.nextRequest()
            request.answer(request.input * 10)
        }
        #expect(try await tasks[0].value == 10)
        #expect(try await tasks[1].value == 10)
        #expect(try await tasks[2].value == 20)
        #expect(provider.requestCount == 2)
    }

    @Test("are as urgent as the most urgent of those who join, also as they start", arguments: [false, true])
    func urgency(isAtStart: Bool) async throws {
        // What runs until it waits has asked.
        let (early, late) = (ManualExecutor(), ManualExecutor())
        let provider = Slow { if isAtStart { late.runNext() } }
        let requests = SharedRequests<Int, Int, TaskPriority>(provider: provider, closesWhenFinished: true)
        let (first, second) = (requests.join(1, 1), requests.join(1, 1))
        let leisurely = Task(priority: .background) { try await Turns(early).ask(first) }
        let urgent = Task(priority: .high) { try await Turns(late).ask(second) }
        try await early.waiting()
        try await late.waiting()
        early.runNext()
        try await provider.isAsked.wait()
        if !isAtStart { late.runNext() }
        provider.mayAnswer.open()
        early.open()
        late.open()
        #expect(try await leisurely.value >= .high)
        #expect(try await urgent.value >= .high)
    }

    private struct Slow: DataProvider {
        let isAsked = Signal()
        let mayAnswer = Signal()
        let onRequest: @Sendable () -> Void

        init(_ onRequest: @escaping @Sendable () -> Void) {
            self.onRequest = onRequest
        }

        func request(_ input: Int) async throws -> TaskPriority {
            onRequest()
            isAsked.open()
            try await mayAnswer.wait()
            return Task.currentPriority
        }
    }

    /// An actor whose jobs the test runs.
    private actor Turns {
        private let jobs: ManualExecutor

        init(_ jobs: ManualExecutor) {
            self.jobs = jobs
        }

        nonisolated var unownedExecutor: UnownedSerialExecutor { jobs.asUnownedSerialExecutor() }

        func ask(_ subscription: Subscription<Int, TaskPriority>) async throws -> TaskPriority {
            try await subscription.request(1)
        }
    }

    @Test("let go of a key where no lock is held")
    func reentrantKeys() async throws {
        final class Nosy: Hashable, Sendable {
            let uses = Watched(0)
            let requests: SharedRequests<Nosy, Int, Int>

            init(_ requests: SharedRequests<Nosy, Int, Int>) { self.requests = requests }

            deinit {
                // Not to be reached where the requests' lock is held.
                if !requests.isEmpty { uses.change { $0 += 1 } }
            }

            static func == (left: Nosy, right: Nosy) -> Bool { true }
            func hash(into hasher: inout Hasher) {}
        }

        let requests = SharedRequests<Nosy, Int, Int>(
            provider: ValueDataProvider<Int, Int>(7), closesWhenFinished: true)
        let first = requests.join(Nosy(requests), 1)
        let second = requests.join(Nosy(requests), 2)
        first.leave()
        #expect(try await second.request(0) == 7)
        second.leave()
        #expect(requests.isEmpty)
    }

    @Test("fail together")
    func failure() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let requests = SharedRequests<Int, Int, Int>(provider: provider, closesWhenFinished: true)
        let subscriptions = [requests.join(1, 1), requests.join(1, 1)]
        let tasks = subscriptions.map { subscription in Task { try await subscription.request(0) } }
        try await provider.nextRequest().fail(Trouble.first)
        for task in tasks { await #expect(throws: Trouble.first) { try await task.value } }
    }

    @Test("one after the other are made one after the other: nothing is kept")
    func nothingIsKept() async throws {
        let provider = FailingAtFirst(0)
        let coalesced = provider.coalesced()
        #expect(try await coalesced.request(1) == 1)
        #expect(try await coalesced.request(1) == 1)
        #expect(provider.count == 2)
        let failing = FailingAtFirst(1)
        let retried = failing.coalesced()
        await #expect(throws: Trouble.first) { try await retried.request(1) }
        #expect(try await retried.request(1) == 1)
    }

    @Test("with one that is cancelled: that one ends at once, the others go on", arguments: [false, true])
    func cancelOne(deaf: Bool) async throws {
        let provider = ControlledDataProvider<Int, Int>(hearsCancel: !deaf)
        let requests = SharedRequests<Int, Int, Int>(provider: provider, closesWhenFinished: true)
        let subscriptions = [requests.join(1, 1), requests.join(1, 1)]
        let tasks = subscriptions.map { subscription in Task { try await subscription.request(0) } }
        let request = try await provider.nextRequest()
        tasks[0].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        #expect(!request.isCancelled)
        request.answer(3)
        #expect(try await tasks[1].value == 3)
    }

    @Test("that are all cancelled cancel the request, and all end at once", arguments: [false, true])
    func cancelAll(deaf: Bool) async throws {
        let provider = ControlledDataProvider<Int, Int>(hearsCancel: !deaf)
        let (tasks, request) = try await join(3, provider)
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        try await request.cancelled()
        request.answer(1)
    }

    @Test("after all were cancelled are made anew")
    func afterCancel() async throws {
        let provider = ControlledDataProvider<Int, Int>(hearsCancel: false)
        let coalesced = provider.coalesced()
        let first = Task { try await coalesced.request(1) }
        let old = try await provider.nextRequest()
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let second = Task { try await coalesced.request(1) }
        let new = try await provider.nextRequest()
        old.answer(1)
        new.answer(2)
        #expect(try await second.value == 2)
    }

    @Test("aren't made by a task that is already cancelled")
    func alreadyCancelled() async throws {
        let isReady = Signal()
        let provider = FailingAtFirst(0)
        let task = Task {
            await isReady.waitDeaf()
            return try await provider.coalesced().request(1)
        }
        task.cancel()
        isReady.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(provider.count == 0)
    }

    @Test("take the last value of a stream, and are none")
    func streams() async throws {
        let coalesced = Listed(1, 2).coalesced()
        #expect(try await coalesced.request(0) == 2)
        #expect(coalesced.stream == nil)
        await #expect(throws: DataProviderError.noAnswer) { try await Listed().coalesced().request(0) }
    }

    @Test("of ten thousand racing tasks all get an answer, and leave nothing behind")
    func race() async throws {
        let provider = ClosureDataProvider { (number: Int) in
            try Task.checkCancellation()
            return number * 2
        }
        let requests = SharedRequests<Int, Int, Int>(provider: provider, closesWhenFinished: true)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<10_000 {
                group.addTask {
                    let subscription = requests.join(number % 7, number % 7)
                    let task = Task { try await subscription.request(0) }
                    if number % 3 == 0 { task.cancel() }
                    let result = await task.result
                    subscription.leave()
                    switch result {
                    case .success(let value): #expect(value == number % 7 * 2)
                    case .failure(let error): #expect(error is CancellationError && number % 3 == 0)
                    }
                }
            }
        }
        #expect(requests.isEmpty)
    }
}
