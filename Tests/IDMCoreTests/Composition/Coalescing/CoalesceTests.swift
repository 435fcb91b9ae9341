import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite(.timeLimit(.ample))
struct CoalesceTests {
    private let provider = ControlledDataProvider<Int, Int>()

    private func requests(
        of provider: some DataProvider<Int, Int>, closing: Bool = true
    ) -> SharedRequests<Int, Int> {
        SharedRequests(provider: provider, closesWhenFinished: closing)
    }

    @Test func `equal inputs share one request and one answer`() async throws {
        let shared = requests(of: provider)
        let tasks = [1, 1, 2].map { shared.join($0, $0) }.map { share in Task { try await share.request(0) } }
        for _ in 0..<2 {
            let request = try await provider.waitForRequest()
            if request.input == 1 { request.answer(10) } else { request.fail(Trouble.first) }
        }

        var answers: [Int?] = []
        for task in tasks { answers.append(try? await task.value) }

        #expect(answers == [10, 10, nil] && provider.requestCount == 2)
    }

    @Test(arguments: [false, true])
    func `a shared request gets the priority of its most urgent caller`(isAtStart: Bool) async throws {
        // What runs until it waits has started.
        let (early, late) = (ManualExecutor(), ManualExecutor())
        let provider = Slow { if isAtStart { late.runNext() } }
        let shared = SharedRequests<Int, TaskPriority>(provider: provider, closesWhenFinished: true)
        let (first, second) = (shared.join(1, 1), shared.join(1, 1))
        let relaxed = Task(priority: .background) { try await Turns(early).request(first) }
        let urgent = Task(priority: .high) { try await Turns(late).request(second) }
        try await early.waitForJobs()
        try await late.waitForJobs()
        early.runNext()
        try await provider.isAsked.wait()
        if !isAtStart { late.runNext() }
        provider.mayAnswer.open()
        early.open()
        late.open()

        let priorities = [try await relaxed.value, try await urgent.value]

        #expect(priorities.allSatisfy { $0 >= .high })
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

        func request(_ share: Subscription<Int, TaskPriority>) async throws -> TaskPriority {
            try await share.request(1)
        }
    }

    @Test func `keys are released outside of the lock`() async throws {
        final class Key: Hashable, Sendable {
            let shared: SharedRequests<Int, Int>

            init(_ shared: SharedRequests<Int, Int>) { self.shared = shared }

            // Deadlocks if the lock is held.
            deinit { _ = shared.isEmpty }

            static func == (left: Key, right: Key) -> Bool { true }
            func hash(into hasher: inout Hasher) {}
        }
        let shared = SharedRequests<Int, Int>(provider: ValueDataProvider(7), closesWhenFinished: true)
        let (first, second) = (shared.join(Key(shared), 1), shared.join(Key(shared), 2))
        first.leave()

        #expect(try await second.request(0) == 7)
        second.leave()
        #expect(shared.isEmpty)
    }

    @Test(arguments: [false, true])
    func `one cancelled caller ends at once and the others get the answer`(isDeaf: Bool) async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: !isDeaf)
        let shared = requests(of: provider)
        let tasks = [shared.join(1, 1), shared.join(1, 1)].map { share in Task { try await share.request(0) } }
        let request = try await provider.waitForRequest()

        tasks[0].cancel()

        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        #expect(!request.isCancelled)
        request.answer(3)
        #expect(try await tasks[1].value == 3)
    }

    @Test(arguments: [false, true])
    func `cancelling the last caller cancels the request, and a new one starts`(isDeaf: Bool) async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: !isDeaf)
        let shared = requests(of: provider)
        let tasks = (0..<3).map { _ in shared.join(1, 1) }.map { share in Task { try await share.request(0) } }
        let request = try await provider.waitForRequest()

        for task in tasks { task.cancel() }

        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        try await request.waitUntilCancelled()
        let next = Task { try await shared.join(1, 1).request(0) }
        let second = try await provider.waitForRequest()
        request.answer(1)
        second.answer(2)
        #expect(try await next.value == 2)
    }

    @Test func `ten thousand racing callers all end and leave nothing behind`() async throws {
        let shared = requests(
            of: ClosureDataProvider { (number: Int) in
                try Task.checkCancellation()
                return number * 2
            })
        let wrong = Log()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<10_000 {
                group.addTask {
                    let share = shared.join(number % 7, number % 7)
                    let task = Task { try await share.request(0) }
                    if number % 3 == 0 { task.cancel() }
                    let result = await task.result
                    share.leave()
                    switch result {
                    case .success(let value): if value != number % 7 * 2 { wrong.add("\(number): \(value)") }
                    case .failure(let error):
                        if !(error is CancellationError && number % 3 == 0) { wrong.add("\(number): \(error)") }
                    }
                }
            }
        }

        #expect(wrong.entries.isEmpty && shared.isEmpty)
    }

    // MARK: Subscriptions

    @Test func `every subscriber gets the latest value and each later one`() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let shared = SharedRequests<Int, Int>(provider: stream, closesWhenFinished: false)
        let early = shared.join(1, 0)
        let first = Task { await collect(early, 0).values }
        let request = try await stream.waitForRequest()
        request.send(1)
        // It has not started, and loses nothing.
        let silent = shared.join(1, 0)
        let reader = shared.join(1, 0)
        var iterator = reader.values(for: 0).makeAsyncIterator()
        let latest = try await iterator.next()
        request.send(2)
        request.finish()
        var rest: [Int] = []
        while let value = try await iterator.next() { rest.append(value) }

        #expect(await first.value == [1, 2])
        #expect([latest] + rest == [1, 2])
        #expect(await collect(silent, 0).values.last == 2)
        #expect(await collect(shared.join(1, 0), 0).values == [2])
    }

    @Test func `progress goes to every subscriber that has started`() async throws {
        let shared = requests(of: provider, closing: false)
        let logs = [ProgressLog(), ProgressLog()]
        let shares = [shared.join(1, 1), shared.join(1, 1)]
        let first = Task { try await logs[0].reporter.ambient { try await shares[0].request(0) } }
        let request = try await provider.waitForRequest()
        request.reporter?.report(fraction: 0.25)
        request.answer(1)
        _ = try await first.value
        _ = try await logs[1].reporter.ambient { try await shares[1].request(0) }
        request.reporter?.report(fraction: 1)

        #expect(logs.map(\.fractions) == [[0.25, 1], [1]])
    }
}
