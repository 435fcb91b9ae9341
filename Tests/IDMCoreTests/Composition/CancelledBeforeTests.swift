import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite(.timeLimit(.ample))
struct CancelledBeforeTests {
    /// A composition that makes requests in tasks of its own, and the number of tasks.
    struct Way: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let taskCount: Int
        let ask: @Sendable (FailingAtFirst) -> any StreamDataProvider<Int, Int>

        static let all = [
            Way(testDescription: "timeout", taskCount: 2) { $0.timeout(.seconds(1)) },
            Way(testDescription: "coalesced", taskCount: 1) { AnyDataProvider($0.coalesced()) },
            Way(testDescription: "attached", taskCount: 1) { ControlledDataProvider<Int, Int>().attached($0) },
        ]
    }

    @Test("a cancelled task starts no provider in a task of its own", arguments: Way.all)
    func cancelledBefore(way: Way) async throws {
        let (jobs, provider, isCancelled) = (HeldJobs(), FailingAtFirst(0), Signal())
        let task = Task {
            await isCancelled.waitIgnoringCancel()
            await LibraryTask.$executor.withValue(jobs) {
                _ = try? await way.ask(provider).request(1)
                _ = await collect(AnyDataProvider(way.ask(provider)), 1)
            }
        }
        task.cancel()
        isCancelled.open()
        await task.value
        #expect(jobs.count == 0)
        #expect(provider.count == 0)
    }

    @Test("a provider cancelled before its turn is not asked", arguments: Way.all)
    func cancelledBeforeItsTurn(way: Way) async throws {
        let (jobs, provider) = (HeldJobs(), FailingAtFirst(0))
        // What a handler starts begins in a later turn.
        var task: Task<Void, any Error>?
        await asHandler {
            task = LibraryTask.$executor.withValue(jobs) { Task { _ = try await way.ask(provider).request(1) } }
        }
        try await jobs.areWaiting(way.taskCount)
        task?.cancel()
        await #expect(throws: CancellationError.self) { try await task?.value }
        jobs.run()
        #expect(provider.count == 0)
    }

    /// Cancels its caller, and logs whether it sees the cancel before it first suspends.
    private struct CancelsItsCaller: DataProvider {
        let caller = Observed<Task<Void, Never>?>(nil)
        let log = Log()

        func request(_ input: Int) async throws -> Int {
            caller.value?.cancel()
            log.add(Task.isCancelled ? "cancelled" : "not cancelled")
            return input
        }
    }

    private static let waysOfAsking: [(name: String, ask: @Sendable (CancelsItsCaller) async -> Void)] = [
        ("integrator", { _ = try? await Integrator($0).request(1) }),
        ("timeout", { _ = try? await $0.timeout(.seconds(60)).request(1) }),
        ("coalesced", { _ = try? await $0.coalesced().request(1) }),
        ("each", { _ = try? await $0.each().request([1]) }),
        ("group", { _ = try? await GroupDataProvider($0, Echo<Int>()).request((1, 2)) }),
    ]

    @Test("a provider off actors sees a cancel before it first suspends", arguments: waysOfAsking.indices)
    func cancelledInItsFirstTurn(way: Int) async throws {
        // On one thread the provider isn't asked before its caller waits for it.
        let (provider, thread, isKnown) = (CancelsItsCaller(), OneThread(), Signal())
        let task = LibraryTask.$executor.withValue(thread) {
            Task(executorPreference: thread) {
                await isKnown.waitIgnoringCancel()
                await Self.waysOfAsking[way].ask(provider)
            }
        }
        provider.caller.change { $0 = task }
        isKnown.open()
        await task.value
        #expect(provider.log.entries == ["cancelled"], "\(Self.waysOfAsking[way].name)")
    }
}
