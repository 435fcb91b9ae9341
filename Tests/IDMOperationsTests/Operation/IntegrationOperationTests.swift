import Foundation
import IDMCore
import IDMOperations
import IDMTesting
import TestSupport
import Testing

@Suite("An operation around a call", .timeLimit(.ample))
struct IntegrationOperationTests {
    private let queue = OperationQueue()
    private let log = Log()

    @Test func `it makes the call when its turn has come, and tells after the call's own handlers`() async throws {
        let provider = ControlledDataProvider<String, Int>()
        let users = Integrator(provider)
        let gate = DataProviderOperation(ControlledDataProvider<Void, Int>())
        let operation = IntegrationOperation(users.prepareCall("apple").onSuccess { [log] in log.add("call \($0)") })
            .onSuccess { [log] in log.add("operation \($0)") }
        operation.addDependency(gate)
        queue.addOperation(operation)
        #expect(provider.requestCount == 0 && !operation.isReady)
        gate.cancel()
        gate.start()
        let request = try await provider.waitForRequest()
        #expect(request.input == "apple")
        request.answer(7)
        #expect(try await operation.value == 7)
        #expect(log.entries == ["call 7", "operation 7"])
    }

    @Test func `it is finished only when what is chained to the call has ended`() async throws {
        let second = ControlledDataProvider<Int, Int>()
        let next = Integrator(second)
        let operation = IntegrationOperation(
            Integrator(ValueDataProvider<Void, Int>(1)).prepareCall().forwardSuccess(to: next))
        let dependant = BlockOperation {}
        dependant.addDependency(operation)
        queue.addOperation(operation)
        queue.addOperation(dependant)
        let request = try await second.waitForRequest()
        #expect(!operation.isFinished && !dependant.isFinished)
        request.answer(2)
        try await dependant.finished()
        #expect(operation.outcome == .success(1))
    }

    @Test func `a cancel after the end of its call cancels what is chained to that`() async throws {
        let second = ControlledDataProvider<Int, Int>()
        let next = Integrator(second)
        let operation = IntegrationOperation(
            Integrator(ValueDataProvider<Void, Int>(1)).prepareCall().forwardSuccess(to: next))
        operation.onCancel { [log] in log.add("\($0)") }
        queue.addOperation(operation)
        let request = try await second.waitForRequest()
        operation.cancel()
        try await request.waitUntilCancelled()
        try await operation.finished()
        #expect(operation.outcome == .success(1) && log.entries.isEmpty)
    }

    @Test func `a cancel that comes as its call is made is the call's`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let made = Observed<Operation?>(nil)
        let users = Integrator(
            provider, executing: .queue,
            lane: { input in
                made.value?.cancel()
                return input
            })
        let operation = IntegrationOperation(users.prepareCall(1).onCancel { [log] in log.add("\($0)") })
        made.change { $0 = operation }
        operation.start()
        try await operation.finished()
        made.change { $0 = nil }
        #expect(operation.outcome == .cancelled(.cancelled) && log.entries == ["cancelled"])
    }

    @Test(arguments: [ExecutingType.queue, .latest(debounce: .seconds(1))])
    func `paused while its call waits for its turn, it doesn't begin before it is resumed`(
        type: ExecutingType
    ) async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let clock = ManualClock()
        let users = Integrator(provider, executing: type, clock: clock)
        let first = IntegrationOperation(users.prepareCall(1))
        let second = IntegrationOperation(users.prepareCall(2).onBeginning { [log] in log.add("began") })
        if case .queue = type { first.start() }
        second.start()
        second.pause()
        if case .queue = type {
            try await provider.waitForRequest().answer(1)
            _ = try await first.value
        } else {
            try await clock.waitForSleepers(1)
            await clock.advance(by: .seconds(1))
        }
        await clock.rest()
        #expect(log.entries.isEmpty)
        second.resume()
        let request = try await provider.waitForRequest()
        #expect(request.input == 2)
        request.answer(2)
        #expect(try await second.value == 2 && log.entries == ["began"])
    }

    @Test func `turned away while it is paused, it tells so at once`() async throws {
        let (before, provider) = (ControlledDataProvider<Int, Int>(), ControlledDataProvider<Int, Int>())
        let users = Integrator(provider, executing: .only)
        let first = Integrator(before).prepareCall(1).call()
        let operation = IntegrationOperation(
            users.prepareCall(2).after(first).onCancel { [log] in log.add("\($0)") })
        operation.start()
        users.prepareCall(1).call().hold()
        operation.pause()
        try await before.waitForRequest().answer(1)
        try await operation.finished()
        #expect(log.entries == ["ignored"] && operation.isPaused)
        try await provider.waitForRequest().answer(1)
    }

    @Test func `it goes by the executing type of the integrator`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let users = Integrator(provider, executing: .latest)
        let first = IntegrationOperation(users.prepareCall(1))
        queue.addOperation(first)
        let request = try await provider.waitForRequest()
        let second = IntegrationOperation(users.prepareCall(2))
        queue.addOperation(second)
        try await first.finished()
        try await request.waitUntilCancelled()
        #expect(first.outcome == .cancelled(.superseded))
        try await provider.waitForRequest().answer(3)
        #expect(try await second.value == 3)
    }

    @Test func `paused, it holds back the value of the call, and a cancel goes through`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let clock = ManualClock()
        let users = Integrator(provider, clock: clock)
        let operation = IntegrationOperation(users.prepareCall(1).onSuccess { [log] in log.add("\($0)") })
        queue.addOperation(operation)
        let request = try await provider.waitForRequest()
        operation.pause()
        request.answer(2)
        await clock.rest()
        #expect(log.entries.isEmpty)
        operation.cancel()
        try await operation.finished()
        #expect(log.entries.isEmpty)
        #expect(operation.outcome == .cancelled(.cancelled))
    }

    @Test func `paused, it doesn't pause a request that it shares with another one`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let users = Integrator(provider, executing: .only(joining: true))
        let (paused, other) = (IntegrationOperation(users.prepareCall(1)), IntegrationOperation(users.prepareCall(1)))
        paused.start()
        let request = try await provider.waitForRequest()
        other.start()
        paused.pause()
        #expect(request.pauseControl == nil)
        request.answer(2)
        #expect(try await other.value == 2)
        #expect(paused.outcome == nil)
        paused.resume()
        #expect(try await paused.value == 2)
        #expect(provider.requestCount == 1)
    }

    @Test func `a provider that ignores its cancel doesn't keep it from ending`() async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: false)
        let operation = IntegrationOperation(Integrator(provider).prepareCall(1))
        queue.addOperation(operation)
        let request = try await provider.waitForRequest()
        operation.cancel()
        try await operation.finished()
        request.answer(2)
        #expect(operation.outcome == .cancelled(.cancelled))
    }

    @Test @MainActor func `handlers run on the actor on which they were written`() async throws {
        let operation = IntegrationOperation(Integrator(ValueDataProvider<Void, Int>(1)).prepareCall())
        operation.onSuccess { [log] _ in
            MainActor.assertIsolated()
            log.add("heard")
        }
        queue.addOperation(operation)
        try await operation.finished()
        #expect(log.entries == ["heard"])
    }
}
