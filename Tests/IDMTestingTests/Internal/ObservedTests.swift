import IDMCore
@testable import IDMTesting
import TestSupport
import Testing

@Suite("A watched value", .inScope, .timeLimit(.ample))
struct WatchedTests {
    private let clock = ManualClock()

    /// A wait that has found that it isn't over yet.
    private func waiting(
        deaf: Bool = false, on watched: Observed<Int>, until isSatisfied: @escaping @Sendable (Int) -> Bool
    ) async -> Task<Void, any Error> {
        let task = Task(executorPreference: clock.executor) {
            try await watched.wait(ignoringCancel: deaf, until: isSatisfied)
        }
        await clock.run()
        return task
    }

    @Test("A wait sees a change that comes during its check")
    func changedMeanwhile() async throws {
        let watched = Observed(0)
        try await watched.wait { value in
            // After what is looked at was read, and before it is waited for.
            if value == 0 { watched.change { $0 = 1 } }
            return value == 1
        }
        #expect(watched.value == 1)
    }

    @Test("A change resumes the waits whose condition holds")
    func right() async throws {
        let (watched, log) = (Observed(0), Log())
        let tasks = (1...3).map { number in
            Task(executorPreference: clock.executor) {
                try await watched.wait { $0 == number }
                log.add("\(number)")
            }
        }
        await clock.run()
        for number in [2, 3, 1] {
            watched.change { $0 = number }
            await clock.run()
        }
        #expect(log.entries == ["2", "3", "1"])
        for task in tasks { try await task.value }
    }

    @Test("A cancelled wait throws, whether it has begun or not")
    func cancelled() async throws {
        let watched = Observed(0)
        let task = await waiting(on: watched) { $0 == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let late = Task(executorPreference: clock.executor) {
            withUnsafeCurrentTask { $0?.cancel() }
            try await watched.wait { $0 == 0 }
        }
        await #expect(throws: CancellationError.self) { try await late.value }
    }

    @Test("A deaf wait ignores its cancel")
    func deaf() async throws {
        let watched = Observed(0)
        let task = await waiting(deaf: true, on: watched) { $0 == 1 }
        task.cancel()
        await clock.run()
        watched.change { $0 = 1 }
        try await task.value
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await watched.wait(ignoringCancel: true) { $0 == 1 }
        }
        try await late.value
    }

    @Test("A condition may read the watched value")
    func reentrant() async throws {
        let (watched, looks) = (Observed(0), Observed(0))
        let task = await waiting(on: watched) { _ in
            looks.change { $0 += 1 }
            return watched.value == 1
        }
        watched.change { $0 = 1 }
        try await task.value
        #expect(looks.value == 3)
    }

    @Test("Waits and changes from many tasks lose no change")
    func everywhere() async throws {
        let watched = Observed(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...200 {
                group.addTask { try await watched.wait { $0 >= number } }
                group.addTask { watched.change { $0 += 1 } }
            }
            try await group.waitForAll()
        }
        #expect(watched.value == 200)
    }
}
