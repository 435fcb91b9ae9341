import Foundation
import IDMCore
import IDMTesting
import Synchronization
import TestSupport
import Testing

@testable import IDMOperations

/// Streams, answers that come twice, those who wait for the end, and those who don't hold out until then.
extension DataProviderOperationTests {
    private struct Pair: StreamDataProvider {
        func values(for input: Int) -> AsyncStream<Int> {
            AsyncStream { continuation in
                for value in [input, input + 1] { continuation.yield(value) }
                continuation.finish()
            }
        }
    }

    @Test(arguments: 0..<3) func `the values of a stream are heard one by one, and the last is the result`(
        way: Int
    ) async throws {
        let first = DataProviderOperation(ValueDataProvider<Void, Int>(5))
        let operation =
            switch way {
            case 0: DataProviderOperation(Pair(), 5)
            case 1: DataProviderOperation(Pair(), from: first) { $0 }
            default: DataProviderOperation(Pair(), 0).input(from: first) { $0 }
            }
        for operation in [first, logging(operation)] { queue.addOperation(operation) }
        #expect(try await operation.value == 6)
        #expect(log.entries == ["began", "value 5", "value 6", "completed"])
    }

    @Test func `an answer that comes twice is heard once, and finishes it once`() async throws {
        struct Twice: CallbackDataProvider {
            func request(
                _ input: Void, completion: @escaping @Sendable (Result<Int, any Error>) -> Void
            ) -> CancelHandler? {
                completion(.success(1))
                completion(.success(2))
                return nil
            }
        }
        let operation = logging(DataProviderOperation(Twice()))
        operation.completionBlock = { [log] in log.add("finished") }
        queue.addOperation(operation)
        try await log.contains("finished")
        #expect(log.entries == ["began", "value 1", "completed", "finished"] && operation.outcome == .success(1))
    }

    @Test func `who waits for its value and is cancelled leaves it alone`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let operation = DataProviderOperation(provider, 1)
        queue.addOperation(operation)
        let request = try await provider.waitForRequest()
        let waiting = Task { try await operation.value }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(!request.isCancelled && !operation.isCancelled)
        request.answer(2)
        #expect(try await operation.value == 2)
    }

    @Test func `who waits no more is let go of at once`() async throws {
        final class DeinitObserver: Sendable {}
        let operation = DataProviderOperation(ControlledDataProvider<Int, Int>(), 1)
        weak var kept: DeinitObserver?
        let observer: Int
        do {
            let canary = DeinitObserver()
            kept = canary
            observer = operation.whenOver { [canary, log] _ in withExtendedLifetime(canary) { log.add("over") } }
        }
        #expect(kept != nil)
        operation.forget(observer)
        #expect(kept == nil)
        operation.cancel()
        operation.start()
        try await operation.finished()
        #expect(log.entries.isEmpty)
    }

    @Test func `started by hand and held by nobody, it comes to its end all the same`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        do {
            let operation = logging(DataProviderOperation(provider, 1))
            operation.completionBlock = { [log] in log.add("finished") }
            operation.start()
        }
        try await provider.waitForRequest().answer(2)
        try await log.contains("finished")
        #expect(log.entries == ["began", "value 2", "completed", "finished"])
    }

    /// Tells when it is seen that it is finished: its queue looks as soon as it is told.
    private final class Telling: ResultOperation<Int>, @unchecked Sendable {
        private let isSeen: @Sendable () -> Void

        init(_ isSeen: @escaping @Sendable () -> Void) {
            self.isSeen = isSeen
            super.init(Integrator(ClosureDataProvider<Void, Int> { _ in throw Offline() }).prepareCall())
        }

        override var isFinished: Bool {
            if super.isFinished { isSeen() }
            return super.isFinished
        }
    }

    @Test func `what requires one that fails is cancelled before its queue could take it`() async throws {
        let dependant = DataProviderOperation(ControlledDataProvider<Int, Int>(), 1)
        let required = Telling { [log] in log.add("finished, cancelled \(dependant.isCancelled)") }
        dependant.require(required)
        for operation in [required, dependant] { queue.addOperation(operation) }
        // Cancelled, it waits for nothing: it may be finished before the other one.
        for operation in [required, dependant] { try await operation.finished() }
        try await log.contains("finished, cancelled true")
        #expect(Set(log.entries) == ["finished, cancelled true"] && dependant.outcome == .cancelled(.cancelled))
    }

    @Test func `no main thread is needed`() async {
        await #expect(processExitsWith: .success) {
            let (isHeld, isDone) = (Gate(), Gate())
            // Until the end of this: whatever had to run there would never.
            Task { @MainActor in DataProviderOperationTests.hold(isHeld, until: isDone) }
            await isHeld.opened()
            let queue = OperationQueue()
            let operations = (0..<300).map { DataProviderOperation(ValueDataProvider<Void, Int>($0)) }
            for (index, operation) in operations.enumerated().dropFirst() {
                operation.addDependency(operations[index / 2])
            }
            for operation in operations { queue.addOperation(operation) }
            for (index, operation) in operations.enumerated() {
                #expect((try? await operation.value) == index)
            }
            isDone.open()
        }
    }

    @MainActor private static func hold(_ isHeld: Gate, until isDone: Gate) {
        isHeld.open()
        isDone.wait()
    }
}
