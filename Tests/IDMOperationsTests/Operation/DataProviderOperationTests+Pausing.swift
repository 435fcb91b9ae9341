import Foundation
import IDMCore
import IDMOperations
import IDMTesting
import TestSupport
import Testing

/// Pauses, and lifetimes.
extension DataProviderOperationTests {
    // MARK: Pausing

    @Test func `paused before its start, it doesn't start until it is resumed`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let operation = DataProviderOperation(provider, 1)
        operation.pause()
        operation.pause()
        let other = DataProviderOperation(ValueDataProvider<Void, Int>(1))
        queue.maxConcurrentOperationCount = 1
        queue.addOperation(operation)
        queue.addOperation(other)
        // Another one passes it in a queue that takes one at a time.
        try await other.finished()
        #expect(provider.requestCount == 0 && !operation.isReady)
        operation.resume()
        try await provider.waitForRequest().answer(2)
        #expect(try await operation.value == 2)
    }

    @Test func `started while it is paused, it begins its work when it is resumed`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let operation = logging(DataProviderOperation(provider, 1))
        operation.pause()
        operation.start()
        #expect(operation.isExecuting && provider.requestCount == 0 && log.entries.isEmpty)
        operation.resume()
        operation.resume()
        try await provider.waitForRequest().answer(2)
        #expect(try await operation.value == 2)
        #expect(log.entries == ["began", "value 2", "completed"])
        #expect(provider.requestCount == 1)

        let cancelled = logging(DataProviderOperation(provider, 1))
        cancelled.pause()
        cancelled.start()
        cancelled.cancel()
        try await cancelled.finished()
        cancelled.resume()
        #expect(log.entries.suffix(2) == ["completed", "cancelled cancelled"])
        #expect(provider.requestCount == 1)
    }

    @Test func `paused after its queue has picked it, it still doesn't begin`() async throws {
        let thread = DispatchQueue(label: "held")
        thread.suspend()
        queue.underlyingQueue = thread
        let provider = ControlledDataProvider<Int, Int>()
        let operation = logging(DataProviderOperation(provider, 1))
        let after = Log()
        queue.addOperation(operation)
        operation.pause()
        thread.async { after.add("passed") }
        thread.resume()
        try await after.contains("passed")
        #expect(provider.requestCount == 0 && log.entries.isEmpty)
        operation.resume()
        try await provider.waitForRequest().answer(2)
        #expect(try await operation.value == 2)
    }

    @Test func `paused while it runs, it holds back what comes until it is resumed`() async throws {
        try await TestScope.run {
            let clock = ManualClock()
            let provider = ControlledDataProvider<Int, Int>()
            let operation = logging(DataProviderOperation(provider, 1))
            operation.start()
            let request = try await provider.waitForRequest()
            #expect(request.pauseControl?.isPaused == false)
            operation.pause()
            #expect(request.pauseControl?.isPaused == true)
            request.answer(2)
            await clock.rest()
            #expect(operation.outcome == nil && log.entries == ["began"])
            operation.resume()
            #expect(try await operation.value == 2)
            #expect(log.entries == ["began", "value 2", "completed"])
        }
    }

    @Test func `a cancel goes through a pause, before the start and after it`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let waiting = DataProviderOperation(provider, 1)
        waiting.pause()
        queue.addOperation(waiting)
        waiting.cancel()
        try await waiting.finished()
        #expect(provider.requestCount == 0)

        let running = DataProviderOperation(provider, 2)
        queue.addOperation(running)
        let request = try await provider.waitForRequest()
        running.pause()
        request.answer(3)
        running.cancel()
        try await running.finished()
        #expect(running.outcome == .cancelled(.cancelled))
    }

    @Test func `a provider that can pause is asked to`() async throws {
        let go = ControlledDataProvider<Void, Void>()
        let stepping = ClosureDataProvider<Void, Int> { [log] _ in
            for step in 1...2 {
                try await go.request()
                log.add("step \(step), paused \(PauseControl.current?.isPaused == true)")
                try await PauseControl.checkpoint()
                log.add("goes on, paused \(PauseControl.current?.isPaused == true)")
            }
            return 2
        }
        let operation = DataProviderOperation(stepping)
        queue.addOperation(operation)
        let first = try await go.waitForRequest()
        operation.pause()
        first.answer(())
        try await log.contains("step 1, paused true")
        operation.resume()
        try await go.waitForRequest().answer(())
        #expect(try await operation.value == 2)
        let going = "goes on, paused false"
        #expect(log.entries == ["step 1, paused true", going, "step 2, paused false", going])
    }

    // MARK: Lifetimes

    @Test(arguments: [false, true])
    func `let go as it waits for a resume, it tells that it is no more`(hasDependency: Bool) async throws {
        let provider = ControlledDataProvider<Int, Int>()
        do {
            let operation = logging(DataProviderOperation(provider, 1))
            let other = BlockOperation {}
            if hasDependency { operation.addDependency(other) }
            operation.pause()
            operation.start()
            #expect(operation.isExecuting)
        }
        try await log.contains("cancelled released")
        #expect(log.entries.count == 1 && provider.requestCount == 0)
    }

    @Test func `it is let go after its end, and so is what it was made of`() async throws {
        do {
            let (provided, heard) = (
                DeinitObserver { [log] in log.add("gone") }, DeinitObserver { [log] in log.add("gone") }
            )
            let operation = DataProviderOperation(
                ClosureDataProvider<Void, Int> { _ in withExtendedLifetime(provided) { 1 } })
            operation.onSuccess { _ in withExtendedLifetime(heard) {} }
            queue.addOperation(operation)
            try await operation.finished()
        }
        try await log.contains { $0 == ["gone", "gone"] }
    }
}
