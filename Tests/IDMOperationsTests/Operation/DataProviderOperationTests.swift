import Foundation
import IDMCore
import IDMOperations
import IDMTesting
import TestSupport
import Testing

@Suite("An operation around a provider", .timeLimit(.ample))
struct DataProviderOperationTests {
    let queue = OperationQueue()
    let log = Log()

    func logging<Input, Output>(
        _ operation: DataProviderOperation<Input, Output>
    ) -> DataProviderOperation<Input, Output> {
        operation
            .onBeginning { [log] in log.add("began") }
            .onSuccess { [log] in log.add("value \($0)") }
            .onError { [log] in log.add("error \($0)") }
            .onCancel { [log] in log.add("cancelled \($0)") }
            .onCompletion { [log] in log.add("completed") }
    }

    // MARK: The result

    @Test func `it asks the provider, tells its handlers and is finished after them`() async throws {
        let operation = logging(DataProviderOperation(ClosureDataProvider { (number: Int) in number + 1 }, 41))
        let dependant = BlockOperation { [log] in log.add("dependant") }
        dependant.addDependency(operation)
        // First: outside of Apple's platforms a queue that takes one of Foundation's own just as what it waits for ends
        // may never start it.
        queue.addOperation(dependant)
        queue.addOperation(operation)
        try await dependant.finished()
        #expect(log.entries == ["began", "value 42", "completed", "dependant"])
        #expect(operation.outcome == .success(42))
        #expect(try await operation.value == 42)
        #expect(operation.isFinished && !operation.isExecuting && !operation.isCancelled)
    }

    @Test func `the error of the provider is heard, and thrown by the value`() async throws {
        let operation = logging(DataProviderOperation(ClosureDataProvider<Void, Int> { _ in throw Offline() }))
        queue.addOperation(operation)
        await #expect(throws: Offline()) { try await operation.value }
        #expect(log.entries == ["began", "error Offline()", "completed"])
    }

    @Test @MainActor func `started on the main thread, it asks elsewhere`() async throws {
        let provider = ClosureDataProvider<Void, Bool> { _ in MainQueue.isCurrent }
        let (started, resumed) = (DataProviderOperation(provider), DataProviderOperation(provider))
        resumed.pause()
        for operation in [started, resumed] { operation.start() }
        resumed.resume()
        #expect(MainQueue.isCurrent)
        #expect(try await !started.value)
        #expect(try await !resumed.value)
    }

    @Test func `nothing is asked before its start, and a second start does nothing`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let operation = DataProviderOperation(provider, 1)
        #expect(provider.requestCount == 0 && operation.isReady && !operation.isExecuting)
        operation.start()
        operation.start()
        #expect(operation.isExecuting && !operation.isFinished)
        try await provider.waitForRequest().answer(2)
        #expect(try await operation.value == 2)
        operation.start()
        #expect(provider.requestCount == 1)
    }

    @Test func `progress from below is heard`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let operation = DataProviderOperation(provider, 1).onProgress { [log] in log.add("\($0.fraction)") }
        queue.addOperation(operation)
        let request = try await provider.waitForRequest()
        request.reporter?.report(fraction: 0.5)
        try await log.contains("0.5")
        request.answer(1)
        _ = try await operation.value
    }

    @Test func `handlers that come too late are not heard`() async throws {
        let operation = DataProviderOperation(ValueDataProvider<Void, Int>(1))
        queue.addOperation(operation)
        _ = try await operation.value
        operation.onSuccess { [log] in log.add("late \($0)") }
        #expect(log.entries.isEmpty)
    }

    // MARK: Cancelling

    @Test func `cancelled before its start, it is never asked, and tells of it once`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let operation = logging(DataProviderOperation(provider, 1))
        operation.cancel()
        operation.cancel()
        try await log.contains("cancelled cancelled")
        // Foundation wants it started before it is finished.
        #expect(!operation.isFinished)
        queue.addOperation(operation)
        try await operation.finished()
        #expect(log.entries == ["cancelled cancelled"])
        #expect(provider.requestCount == 0)
        #expect(operation.outcome == .cancelled(.cancelled))
    }

    @Test func `cancelled while it waits in a suspended queue, it tells at once and is finished later`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        queue.isSuspended = true
        let operation = logging(DataProviderOperation(provider, 1))
        queue.addOperation(operation)
        operation.cancel()
        try await log.contains("cancelled cancelled")
        #expect(!operation.isFinished)
        queue.isSuspended = false
        try await operation.finished()
        #expect(provider.requestCount == 0)
    }

    @Test func `cancelled while it runs, its provider hears of it and it is finished`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let operation = logging(DataProviderOperation(provider, 1))
        queue.addOperation(operation)
        let request = try await provider.waitForRequest()
        operation.cancel()
        operation.cancel()
        try await request.waitUntilCancelled()
        try await operation.finished()
        #expect(log.entries == ["began", "cancelled cancelled", "completed"])
        await #expect(throws: IntegrationError.self) { try await operation.value }
    }

    @Test func `cancelled after its end, it stays what it was`() async throws {
        let operation = logging(DataProviderOperation(ValueDataProvider<Void, Int>(1)))
        queue.addOperation(operation)
        try await operation.finished()
        operation.cancel()
        #expect(operation.outcome == .success(1))
        #expect(log.entries == ["began", "value 1", "completed"])
    }

    @Test(arguments: ["began", "value", "completed"])
    func `cancelled from inside a handler, it ends once`(place: String) async throws {
        let operation = DataProviderOperation(ValueDataProvider<Void, Int>(1))
        let ends = Log()
        operation
            .onBeginning { [weak operation] in if place == "began" { operation?.cancel() } }
            .onSuccess { [weak operation] _ in if place == "value" { operation?.cancel() } }
            .onCancel { _ in ends.add("cancelled") }
            .onCompletion { [weak operation] in
                ends.add("completed")
                if place == "completed" { operation?.cancel() }
            }
        queue.addOperation(operation)
        try await operation.finished()
        #expect(ends.entries == (place == "began" ? ["cancelled", "completed"] : ["completed"]))
        #expect(operation.outcome == (place == "began" ? .cancelled(.cancelled) : .success(1)))
    }

    // MARK: Dependencies

    @Test func `it takes its input from another operation`() async throws {
        let first = DataProviderOperation(ValueDataProvider<Void, Int>(20))
        let second = DataProviderOperation(ClosureDataProvider { (number: Int) in number + 2 }, from: first) { $0 * 2 }
        queue.addOperation(second)
        queue.addOperation(first)
        #expect(try await second.value == 42)
    }

    @Test func `an input that is replaced is let go of where no lock is held`() async throws {
        final class Nosy: Sendable {
            let operation: DataProviderOperation<Int, Int>
            let log: Log
            init(_ operation: DataProviderOperation<Int, Int>, _ log: Log) {
                self.operation = operation
                self.log = log
            }
            func input(_ number: Int) -> Int { number }
            deinit { log.add("let go of, paused \(operation.isPaused)") }
        }
        let first = DataProviderOperation(ValueDataProvider<Void, Int>(20))
        let second = DataProviderOperation(ClosureDataProvider { (number: Int) in number + 2 }, 0)
        second.input(from: first) { [nosy = Nosy(second, log)] in nosy.input($0) }
        #expect(log.entries.isEmpty)
        second.input(from: first) { $0 * 2 }
        #expect(log.entries == ["let go of, paused false"])
        queue.addOperation(second)
        queue.addOperation(first)
        #expect(try await second.value == 42)
    }

    @Test func `without the other's result, it fails and says why`() async throws {
        let first = DataProviderOperation(ClosureDataProvider<Void, Int> { _ in throw Offline() })
        first.name = "first"
        let second = DataProviderOperation(ControlledDataProvider<Int, Int>(), from: first) { $0 }
        let operations: [Operation] = [first, second]
        for operation in operations { queue.addOperation(operation) }
        let error = await #expect(throws: OperationError.self) { try await second.value }
        guard case .noInput(from: "first", because: is Offline) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: [false, true], [false, true])
    func `one that is required cancels it unless it succeeds`(fails: Bool, isKnown: Bool) async throws {
        let provider = ControlledDataProvider<Void, Int>()
        let first = DataProviderOperation(provider)
        let second = logging(DataProviderOperation(ControlledDataProvider<Int, Int>(), 1))
        // Whether or not the compiler sees what it is.
        if isKnown { second.require(first) } else { second.require(first as Operation) }
        let third = DataProviderOperation(ValueDataProvider<Void, Int>(3))
        third.addDependency(second)
        let operations: [Operation] = [third, second, first]
        for operation in operations { queue.addOperation(operation) }
        let request = try await provider.waitForRequest()
        if fails { request.fail(Offline()) } else { first.cancel() }
        try await second.finished()
        #expect(second.outcome == .cancelled(.cancelled))
        #expect(log.entries == ["cancelled cancelled"])
        #expect(try await third.value == 3)
    }

    @Test(arguments: [false, true]) func `it is cancelled with a Foundation operation that it requires`(
        isCancelled: Bool
    ) async throws {
        let block = BlockOperation {}
        let provider = ControlledDataProvider<Void, Int>()
        let operation = logging(DataProviderOperation(provider)).require(block)
        if isCancelled { block.cancel() }
        queue.addOperation(operation)
        queue.addOperation(block)
        if !isCancelled { try await provider.waitForRequest().answer(1) }
        try await operation.finished()
        #expect(log.entries == (isCancelled ? ["cancelled cancelled"] : ["began", "value 1", "completed"]))
        #expect(provider.requestCount == (isCancelled ? 0 : 1))
    }

    @Test func `ten thousand that require one another are all cancelled with the first`() async throws {
        let first = DataProviderOperation(ValueDataProvider<Void, Int>(1))
        var last = first
        var all = [first]
        for _ in 0..<10_000 {
            let next = DataProviderOperation(ValueDataProvider<Void, Int>(1)).require(last)
            all.append(next)
            last = next
        }
        // In no queue: Foundation's takes a time for this that grows with the square of their number.
        first.cancel()
        await #expect(throws: IntegrationError.self) { try await last.value }
        #expect(all.allSatisfy { $0.outcome == .cancelled(.cancelled) && $0.isCancelled && !$0.isFinished })
    }

    @Test func `one that is let go unstarted doesn't bring down what it waited for`() async throws {
        let provider = ControlledDataProvider<Void, Int>()
        let first = DataProviderOperation(provider)
        do {
            let dropped = DataProviderOperation(ValueDataProvider<Void, Int>(1))
            dropped.addDependency(first)
        }
        queue.addOperation(first)
        try await provider.waitForRequest().answer(1)
        try await first.finished()
        #expect(first.outcome == .success(1))
    }

    #if !canImport(ObjectiveC)
    // As deep as the stack allows elsewhere: there, it is Foundation that lets go of what an operation waited for.
    @Test(arguments: 0..<4) func `tens of thousands that wait for one another can be let go of`(way: Int) async throws {
        weak var first: DataProviderOperation<Int, Int>?
        do {
            let provider = ValueDataProvider<Int, Int>(1)
            var last = DataProviderOperation(provider, 1)
            first = last
            for number in 0..<Volume.of(100_000, normally: 25_000) {
                let next = DataProviderOperation(provider, 1)
                switch way {
                case 0: next.addDependency(last)
                case 1: next.require(last)
                case 2: next.input(from: last) { $0 }
                default:
                    // Not of one kind, and not each for itself.
                    let block = BlockOperation {}
                    block.addDependency(last)
                    next.addDependency(block)
                    if number % 3 == 0 { next.addDependency(last) }
                }
                last = next
            }
        }
        #expect(first == nil)
    }
    #endif
}
