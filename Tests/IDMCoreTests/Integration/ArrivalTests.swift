import IDMCore
import IDMTesting
import TestSupport
import Testing

/// A task that reports its arrival from another actor than it waited on would seem at rest to a watching clock.
@Suite(.timeLimit(.ample))
@MainActor
struct ArrivalTests {
    private let watch = ArrivalWatch()
    private let gate = AsyncStream<Int>.makeStream()

    /// Answers when the gate has a number; the watch does not see that.
    private struct Waiting: DataProvider {
        let numbers: AsyncStream<Int>

        @concurrent
        func request(_ input: Void) async throws -> Int {
            for await number in numbers { return number }
            throw CancellationError()
        }
    }

    /// - Parameter wait: Waits for the integrator's value, which is 1.
    private func expectArrival(
        _ wait: @escaping @MainActor @Sendable (Integrator<Void, Int>) async throws -> Int
    ) async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let integrator = Integrator(Waiting(numbers: gate.stream))
        let waiting = LibraryTask.$executor.withValue(watch) { Task.immediate { try await wait(integrator) } }
        let before = watch.onMain.count
        gate.continuation.yield(1)
        #expect(try await waiting.value == 1)
        #expect(watch.onMain.dropFirst(before).contains(true))
    }

    private nonisolated static let waits: [@MainActor @Sendable (Integrator<Void, Int>) async throws -> Int] = [
        { try await $0.request() },
        { try await $0.prepareCall().call().value },
        { try await [$0.prepareCall()].callAll()[0].get() },
        { integrator in
            var last: Int?
            for try await value in integrator.prepareCall().values() { last = value }
            return try #require(last)
        },
    ]

    @Test(arguments: waits.indices)
    func `a task that waited on the main actor reports its arrival there`(index: Int) async throws {
        try await expectArrival(Self.waits[index])
    }
}
