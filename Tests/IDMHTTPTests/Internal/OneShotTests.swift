import TestSupport
import Testing

@testable import IDMHTTP

@Suite("The first result", .timeLimit(.ample))
struct OneShotTests {
    private enum Trouble: Error { case one }

    @Test("the first result is delivered, also to a later waiter")
    func before() async throws {
        let result = OneShot<Int>()

        #expect(result.end(.success(1)))
        #expect(!result.end(.success(2)))
        #expect(!result.end(.failure(Trouble.one)))
        #expect(try await result.value() == 1)
        #expect(!result.end(.success(3)))
    }

    @Test("the action runs between decision and delivery")
    func action() async throws {
        let (result, executor, actions) = (OneShot<Int>(), CountingExecutor(), Log())
        let waiting = Task(executorPreference: executor) { try await result.value() }
        try await executor.ran(1)
        result.end(.failure(Trouble.one)) {
            #expect(!result.end(.success(1)) { actions.add("no action of a later one") })
            actions.add("after job \(executor.jobCount)")
        }
        #expect(executor.jobCount == 2)
        #expect(actions.entries == ["after job 1"])
        await #expect(throws: Trouble.one) { try await waiting.value }
    }

    @Test("a late waiter gets the result only after the action")
    func duringAction() async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let (result, log) = (OneShot<Int>(), Log())
        var waiting: Task<Int, any Error>?
        result.end(.success(1)) {
            // Goes on to where it waits, and would go on from there if it were told.
            waiting = Task.immediate {
                defer { log.add("heard") }
                return try await result.value()
            }
            log.add("brought about")
        }
        #expect(try await waiting?.value == 1)
        #expect(log.entries == ["brought about", "heard"])
    }

    @Test("one of many racing results is delivered")
    func races() async throws {
        for round in 0..<200 {
            let result = OneShot<Int>()
            let winners = await withTaskGroup(of: Int?.self) { group in
                for value in 0..<4 { group.addTask { result.end(.success(value)) ? value : nil } }
                group.addTask { (try? await result.value()).map { $0 + 100 } }
                return await group.reduce(into: Set<Int>()) { if let value = $1 { $0.insert(value) } }
            }
            #expect(winners.count == 2 && winners.max() == winners.min().map { $0 + 100 }, "round \(round)")
        }
    }
}
