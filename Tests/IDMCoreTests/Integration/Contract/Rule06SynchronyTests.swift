import IDMCore
import IDMTesting
import TestSupport
import Testing

/// Holds where a task can start at once, which Linux and the systems from 26 on can. Elsewhere the tests look at the
/// order alone, once the call has finished.
@Suite(
    "Rule 6: what is answered without suspending has been delivered when call() returns", .inScope, .timeLimit(.ample))
struct Rule06SynchronyTests {
    private static var startsAtOnce: Bool {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { true } else { false }
    }

    private static let success = ["begin", "success 1", "completion"]

    private let recorder = IntegrationRecorder<Int>()

    /// What has to have been heard when `call()` has returned: the whole call, where that holds. More than that may not
    /// come later: the scope asks for it.
    private func expectWhole(
        _ task: IntegrationTask<Int>, _ end: EventExpectation<Int> = .succeeded(1), line: Int = #line,
        column: Int = #column
    ) async {
        if !Self.startsAtOnce { await task.finish() }
        recorder.expectRecorded(.began, end, .completed, line: line, column: column)
        await task.finish()
    }

    @Test("On the main actor")
    @MainActor
    func mainActor() async {
        await expectWhole(recorder.call(Integrator(Echo<Int>()).prepareCall(1)))
    }

    private actor Screen {
        func load(_ integrator: Integrator<Int, Int>, _ log: Log) -> (IntegrationTask<Int>, [String]) {
            let task = integrator.prepareCall(1)
                .onBeginning { [weak self] in self?.show("begin", log) }
                .onSuccess { [weak self] in self?.show("success \($0)", log) }
                .onCompletion { [weak self] in self?.show("completion", log) }
                .call()
            return (task, log.entries)
        }

        private nonisolated func show(_ line: String, _ log: Log) {
            assumeIsolated { _ in log.add(line) }
        }
    }

    @Test("On a user's actor")
    func usersActor() async {
        let log = Log()
        let (task, entries) = await Screen().load(Integrator(Echo<Int>()), log)
        if Self.startsAtOnce { #expect(entries == Self.success) }
        await task.finish()
        #expect(log.entries == Self.success)
    }

    @Test("On no actor nothing has to be there by then, and the order is the same")
    func noActor() async {
        await recorder.call(Integrator(Echo<Int>()).prepareCall(1)).finish()
        recorder.expectRecorded(.began, .succeeded(1), .completed)
    }

    @Test("An integrator without an input")
    @MainActor
    func withoutInput() async {
        await expectWhole(recorder.call(Integrator(ValueDataProvider<Void, Int>(1)).prepareCall()))
    }

    @Test("An input of any type")
    @MainActor
    func anyInput() async {
        struct Query: Sendable { let words: [String] }
        let integrator = Integrator(ValueDataProvider<Query, Int>(1))
        await expectWhole(recorder.call(integrator.prepareCall(Query(words: ["apple", "pie"]))))
    }

    @Test("Every executing type that starts at once", arguments: ExecutingType.several)
    @MainActor
    func types(type: ExecutingType) async {
        await expectWhole(recorder.call(Integrator(Echo<Int>(), executing: type).prepareCall(1)))
    }

    @Test("An integrator with lanes")
    @MainActor
    func lanes() async {
        await expectWhole(recorder.call(Integrator(Echo<Int>(), executing: .only, lane: { $0 }).prepareCall(1)))
    }

    @Test("An error, and a cancellation from below")
    @MainActor
    func otherEnds() async {
        let failing = Integrator(Failing(Trouble.first))
        await expectWhole(recorder.call(failing.prepareCall(1)), .failed(Trouble.first))
        let cancelling = Integrator(Failing(CancellationError()))
        await expectWhole(recorder.call(cancelling.prepareCall(1)), .cancelled(.cancelled))
    }

    @Test("A stream whose values are there")
    @MainActor
    func stream() async {
        struct Stored: StreamDataProvider {
            func values(for count: Int) -> ProviderValues<Int> { ProviderValues(of: Echo<Int>(), for: count) }
        }
        await expectWhole(recorder.call(Integrator(Stored()).prepareCall(1)))
    }

    @Test("Handlers of the integrator, and sinks of the call, on the same actor")
    @MainActor
    func integratorAndSinks() async {
        let (log, screen) = (Log(), SinkScreen())
        let integrator = Integrator(Echo<Int>())
        integrator.recorded(in: log, as: "integrator")
        integrator.dataHandler(screen)
        let task = integrator.prepareCall(1).loadingHandler(screen).recorded(in: log, as: "call").call()
        if !Self.startsAtOnce { await task.finish() }
        let lines = Self.success.flatMap { ["integrator: \($0)", "call: \($0)"] }
        #expect(log.entries == lines)
        await task.finish()
        #expect(log.entries == lines)
        #expect(screen.lines == ["loading", "data 1", "finished"])
    }

    @Test("A call that is turned away")
    @MainActor
    func turnedAway() async {
        let integrator = Integrator(ControlledDataProvider<Int, Int>(), executing: .only)
        let first = integrator.prepareCall(1).call()
        let second = recorder.call(integrator.prepareCall(2))
        if !Self.startsAtOnce { await second.finish() }
        recorder.expectRecorded(.cancelled(.ignored))
        await second.finish()
        first.cancel()
        await first.finish()
    }

    @Test("A cancel while the provider is at work is delivered when cancel() returns")
    @MainActor
    func cancel() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let task = recorder.call(Integrator(provider).prepareCall(1))
        _ = try await provider.waitForRequest()
        task.cancel()
        await expectWhole(task, .cancelled(.cancelled))
    }

    // MARK: Where it doesn't hold

    @Test("One handler without an actor breaks it, and the order stays")
    @MainActor
    func handlerWithoutActor() async {
        let (log, isHere) = (Log(), Observed(true))
        let call = withHandlerElsewhere(Integrator(Echo<Int>()).prepareCall(1).recorded(in: log), log)
        let task = call.onCompletion { log.add(isHere.value ? "in call()" : "later") }.call()
        isHere.change { $0 = false }
        await task.finish()
        #expect(log.entries == ["begin", "success 1", "elsewhere 1", "completion", "later"])
    }

    private nonisolated func withHandlerElsewhere(_ call: IntegrationCall<Int>, _ log: Log) -> IntegrationCall<Int> {
        call.onSuccess { log.add("elsewhere \($0)") }
    }

    @Test("A call made from a handler is delivered in a later turn")
    @MainActor
    func fromAHandler() async {
        let log = Log()
        let integrator = Integrator(Echo<Int>())
        var inner: IntegrationTask<Int>?
        let task = integrator.prepareCall(0)
            .onSuccess { _ in
                inner = integrator.prepareCall(1).recorded(in: log).call()
                log.add("handler ends")
            }
            .call()
        await task.finish()
        await inner?.finish()
        #expect(log.entries == ["handler ends"] + Self.success)
    }

    @Test("A call made after a handler has run is delivered at once again, also in a task that the handler started")
    @MainActor
    func afterAHandler() async {
        let log = Log()
        let integrator = Integrator(Echo<Int>())
        var started: Task<[String], Never>?
        let task = integrator.prepareCall(0)
            .onSuccess { _ in
                started = Task {
                    integrator.prepareCall(1).recorded(in: log).call()
                    return log.entries
                }
            }
            .call()
        await task.finish()
        let entries = await started?.value
        if Self.startsAtOnce { #expect(entries == Self.success) }
    }

    @Test("An answer that comes later is delivered in the same order")
    @MainActor
    func suspending() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let task = recorder.call(Integrator(provider).prepareCall(1))
        if Self.startsAtOnce { recorder.expectRecorded(.began) }
        try await provider.waitForRequest().answer(1)
        await task.finish()
        if !Self.startsAtOnce { recorder.expectRecorded(.began) }
        recorder.expectRecorded(.succeeded(1), .completed)
    }
}
