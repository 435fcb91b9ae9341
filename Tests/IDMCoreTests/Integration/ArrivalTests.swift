import IDMCore
import IDMTesting
import TestSupport
import Testing

/// Who tells elsewhere that it has come is on its way once more, and a clock would take that for rest.
@Suite("Who waits on the main actor, and is let go on, is there when it tells so", .timeLimit(.ample))
@MainActor
struct ArrivalTests {
    private let watch = ArrivalWatch()
    private let gate = AsyncStream<Int>.makeStream()

    /// Answers when the gate has a number, without anybody being told.
    private struct Waiting: DataProvider {
        let numbers: AsyncStream<Int>

        @concurrent
        func request(_ input: Void) async throws -> Int {
            for await number in numbers { return number }
            throw CancellationError()
        }
    }

    /// - Parameter wait: Waits for what an integrator answers, which is 1.
    private func expectArrival(
        _ wait: @escaping @MainActor (Integrator<Void, Int>) async throws -> Int
    ) async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let integrator = Integrator(Waiting(numbers: gate.stream))
        let waiting = LibraryTask.$executor.withValue(watch) { Task.immediate { try await wait(integrator) } }
        let before = watch.onMain.count
        gate.continuation.yield(1)
        #expect(try await waiting.value == 1)
        // The events are told on no actor first, and those who only wait hear of nothing else.
        #expect(watch.onMain.dropFirst(before).contains(true))
    }

    @Test("for the request of an integrator")
    func request() async throws {
        try await expectArrival { try await $0.request() }
    }

    @Test("for the value of a call")
    func value() async throws {
        try await expectArrival { try await $0.prepareCall().call().value }
    }

    @Test("for several calls at once")
    func all() async throws {
        try await expectArrival { try await [$0.prepareCall()].callAll()[0].get() }
    }

    @Test("for the events of a call")
    func events() async throws {
        try await expectArrival { integrator in
            var last: Int?
            for await event in integrator.prepareCall().events() {
                if case .succeeded(let value) = event { last = value }
            }
            return try #require(last)
        }
    }
}
