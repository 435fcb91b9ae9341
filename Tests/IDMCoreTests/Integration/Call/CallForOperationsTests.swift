import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

/// What other modules of the package need of calls, beyond what everybody does.
@Suite("Calls that other modules make", .timeLimit(.ample))
struct CallForOperationsTests {
    private let log = Log()

    private func logging(_ call: IntegrationCall<Int>) -> IntegrationCall<Int> {
        call
            .onBeginning { [log] in log.add("began") }
            .onSuccess { [log] in log.add("\($0)") }
            .onCancel { [log] in log.add("\($0)") }
            .onCompletion { [log] in log.add("completed") }
    }

    /// How a task ended, once it has.
    private func outcome(of task: ErasedTask) async -> IntegrationOutcome<Int> {
        await task.finish().typed()
    }

    @Test(arguments: [ExecutingType.default, .only, .queue, .latest])
    func `a call that is turned away hears why and nothing else, and takes nobody's place`(
        type: ExecutingType
    ) async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let users = Integrator(provider, executing: type)
        let running = users.prepareCall(1).call()
        let request = try await provider.nextRequest()
        let task = logging(users.prepareCall(2)).erased.turnAway(.cancelled)
        #expect(await outcome(of: task) == .cancelled(.cancelled))
        #expect(log.entries == ["cancelled"])
        request.answer(3)
        #expect(try await running.value == 3)
        #expect(provider.requestCount == 1)
    }

    @Test func `turned away by a released integrator, it hears of the release`() async throws {
        let engine = IntegratorCore(type: .default, isKeyed: false, clock: ContinuousClock())
        engine.release()
        let source = PreparedInput(
            supply: Supply(ValueDataProvider<Void, Int>(1), engine: engine, lane: nil), input: ())
        let task = IntegrationCall<Int>(source, holding: source).erased.turnAway(.cancelled)
        #expect(await outcome(of: task) == .cancelled(.released))
    }

    @Test func `its task is there before its first handler runs`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let task = Watched<ErasedTask?>(nil)
        let users = Integrator(provider)
        let log = log
        users.prepareCall(1)
            .onBeginning { task.value?.cancel() }
            .onCancel { log.add("\($0)") }
            .onCompletion { log.add("completed") }
            .erased.call { made in task.change { $0 = made } }
        _ = await outcome(of: try #require(task.value))
        #expect(log.entries == ["cancelled", "completed"])
        #expect(provider.requestCount == 0)
    }

    @Test func `the end of a call is told when its last handler has run, and waited for with what is chained to it`()
        async throws
    {
        let next = ControlledDataProvider<Void, Int>()
        let chained = Integrator(next)
        let users = Integrator(ValueDataProvider<Void, Int>(1))
        let made = Watched<ErasedTask?>(nil)
        let log = log
        logging(users.prepareCall()).nextSuccess(chained.prepareCall()).erased.call(isolation: nil) { task in
            made.change { $0 = task }
            task.whenFinished { log.add("over") }
        }
        let task = try #require(made.value)
        let request = try await next.nextRequest()
        try await log.contains("over")
        #expect(log.entries == ["began", "1", "completed", "over"])
        #expect(task.lastWord == nil, "What is chained may have more to tell.")
        async let end = task.finish()
        request.answer(2)
        #expect(await end.value as? Int == 1)
        task.whenFinished { log.add("over before") }
        #expect(log.entries.last == "over before")
    }

    @Test func `the last word of a call to which nothing is chained is how it ended`() async throws {
        let provider = ControlledDataProvider<Void, Int>()
        let made = Watched<ErasedTask?>(nil)
        Integrator(provider).prepareCall().erased.call(isolation: nil) { task in made.change { $0 = task } }
        let task = try #require(made.value)
        #expect(task.lastWord == nil)
        try await provider.nextRequest().answer(3)
        #expect(await task.finish().value as? Int == 3)
        #expect(task.lastWord?.value as? Int == 3)
    }

    @Test func `a call of no integrator asks its provider, and is held by its run alone`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let log = log
        var call = DirectInquiry(provider, 7).call
        call.onSuccess { (value: Int) in log.add("\(value)") }
        call.call { _ in }
        let request = try await provider.nextRequest()
        #expect(request.input == 7)
        request.answer(8)
        try await log.contains("8")
    }

    @Test func `asked something else, a call hands out what it has held before`() async throws {
        final class Kept: Sendable {}
        weak let kept: Kept?
        let provider = ControlledDataProvider<Int, Int>()
        var call: ErasedCall
        var before: (any AnyObject & Sendable)?
        do {
            let first = Kept()
            kept = first
            call = DirectInquiry(provider.mapInput { (_: Void) in withExtendedLifetime(first) { 1 } }, ()).call
            before = call.ask(as: DirectInquiry(provider, 2).call)
        }
        #expect(kept != nil)
        before = nil
        #expect(kept == nil && before == nil)
        call.call { _ in }
        #expect(try await provider.nextRequest().input == 2)
    }

    @Test func `an erased call is heard by handlers of every kind`() async throws {
        let log = log
        let provider = ControlledDataProvider<Int, Int>()
        var call = DirectInquiry(provider, 1).call
        call.onBeginning { log.add("began") }
        call.onProgress { log.add("\($0.fraction)") }
        call.onSuccess { (value: Int) in log.add("value \(value)") }
        call.onError { _ in log.add("failed") }
        call.onCancel { log.add("\($0)") }
        call.onCompletion { log.add("completed") }
        call.call { _ in }
        let answered = try await provider.nextRequest()
        answered.reporter?.report(fraction: 0.5)
        try await log.contains("0.5")
        answered.answer(2)
        try await log.contains("completed")
        #expect(log.entries == ["began", "0.5", "value 2", "completed"])
        call.call { _ in }
        try await provider.nextRequest().fail(DataProviderError.noAnswer)
        try await log.contains("failed")
        call.call { $0.cancel() }
        try await log.contains("cancelled")
    }

    @Test func `calls of no integrator are spread over several gates, and each stays at its own`() {
        let sources = (0..<200).map { number in DirectInquiry(ValueDataProvider<Int, Int>(1), number) }
        let engines = sources.map { ObjectIdentifier($0.engine) }
        #expect(Set(engines).count > 1)
        #expect(sources.map { ObjectIdentifier($0.engine) } == engines)
    }

    @Test func `what pauses a call holds for all that it asks, and not for who makes it`() async throws {
        let control = PauseControl()
        let provider = ControlledDataProvider<Int, Int>()
        try await TestScope.run {
            let clock = ManualClock()
            for isHeard in [true, false] {
                let log = Log()
                var call = DirectInquiry(provider, 1).call
                if isHeard { call.onSuccess { (value: Int) in log.add("value \(value)") } }
                call.call(pausedBy: control) { task in
                    #expect(PauseControl.current !== control)
                    task.whenFinished { log.add("over") }
                }
                let request = try await provider.nextRequest()
                #expect(request.pauseControl === control)
                control.pause()
                request.answer(2)
                await clock.rest()
                #expect(log.entries.isEmpty)
                control.resume()
                try await log.contains("over")
                #expect(log.entries == (isHeard ? ["value 2", "over"] : ["over"]))
            }
        }
    }
}
