import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("Rule 11: a started call runs to its end unless cancelsWhenReleased is set", .inScope, .timeLimit(.ample))
struct Rule11LifetimeTests {
    private let provider = ControlledDataProvider<Int, Int>()
    private let log = Log()
    private let gone = Signal()

    // MARK: Release

    @Test(arguments: CallerPlace.allCases, [nil, false, true])
    func `a call of a released integrator runs on, or is cancelled if asked`(place: CallerPlace, isDeaf: Bool?)
        async throws
    {
        let cancels = isDeaf != nil
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: isDeaf != true)
        try await place.run { isolation in
            let leaks = LeakTracker()
            var integrator: Integrator<Int, Int>? = leaks.track(Integrator(provider, cancelsWhenReleased: cancels))
            _ = integrator?.prepareCall(1).recorded(in: log, isolation: isolation).opening(gone).call(
                isolation: isolation)
            let request = try await provider.waitForRequest()
            integrator = nil
            leaks.verify()
            if cancels { try await request.waitUntilCancelled() } else { request.answer(1) }
            try await gone.wait()
            request.answer(1)
        }

        #expect(log.entries == ["begin", cancels ? "cancel released" : "success 1", "completion"])
    }

    @Test(arguments: ExecutingType.several, [false, true])
    func `running and waiting calls end as the release asks`(type: ExecutingType, cancels: Bool) async throws {
        let gate = Signal()
        let signals = (0..<3).map { _ in Signal() }
        var integrator: Integrator<Int, Int>? = Integrator(
            gated(by: gate), executing: type, cancelsWhenReleased: cancels)
        for (input, signal) in signals.enumerated() {
            _ = integrator?.prepareCall(input).recorded(in: log, as: "\(input)").opening(signal).call()
        }

        integrator = nil
        if !cancels { gate.open() }
        for signal in signals { try await signal.wait() }

        let ends = log.entries.filter { $0.contains("success") || $0.contains("cancel") }
        let expected = (0..<3).map { input in
            if type == .only && input > 0 { return "\(input): cancel ignored" }
            if type == .latest && input < 2 { return "\(input): cancel superseded" }
            if cancels { return "\(input): cancel released" }
            return "\(input): success \(type == .only(joining: true) ? 0 : input)"
        }
        #expect(ends.sorted() == expected)
    }

    @Test func `cancelsWhenReleased ends a debounced call unstarted and stops its clock`() async throws {
        let clock = ManualClock()
        var integrator: Integrator<Int, Int>? = Integrator(
            Echo<Int>(), executing: .latest(debounce: .seconds(1)), cancelsWhenReleased: true, clock: clock)
        _ = integrator?.prepareCall(1).recorded(in: log).opening(gone).call()
        try await clock.waitForSleepers(1)

        integrator = nil
        try await gone.wait()

        #expect(log.entries == ["cancel released"])
        try await clock.waitForNoSleepers()
    }

    // MARK: References to the integrator

    @Test(arguments: [false, true])
    func `a prepared call and a task hold their integrator`(isStarted: Bool) async throws {
        var integrator: Integrator<Int, Int>? = Integrator(provider, cancelsWhenReleased: true)
        weak let held = integrator
        let call = integrator?.prepareCall(1)
        integrator = nil
        #expect(held != nil)
        guard isStarted else { return }

        let task = call?.call()
        try await provider.waitForRequest().answer(1)
        await task?.finish()

        withExtendedLifetime(task) { #expect(held != nil) }
    }

    @Test func `a request holds its integrator until it has the value`() async throws {
        var integrator: Integrator<Int, Int>? = Integrator(provider, cancelsWhenReleased: true)
        let awaiting = Task { [integrator] in try await integrator?.request(1) }
        let request = try await provider.waitForRequest()
        integrator = nil
        request.answer(7)

        #expect(try await awaiting.value == 7)
    }

    /// The ways to chain calls.
    enum Chaining: CaseIterable {
        case next, forwarding, predecessor

        func chain(_ call: IntegrationCall<Int>, _ other: Integrator<Int, Int>, _ log: Log) -> IntegrationCall<Int> {
            switch self {
            case .next: call.nextSuccess(other.prepareCall(1).recorded(in: log))
            case .forwarding: call.forwardSuccess(to: other) { $0.recorded(in: log) }
            case .predecessor: call.after(other.prepareCall(1).recorded(in: log))
            }
        }
    }

    @Test(arguments: Chaining.allCases)
    func `a chained call holds its integrator until it has run`(chaining: Chaining) async throws {
        let leaks = LeakTracker()
        func start() -> IntegrationTask<Int> {
            let other = leaks.track(Integrator(provider, cancelsWhenReleased: true))
            return chaining.chain(Integrator(Echo<Int>()).prepareCall(1), other, log).opening(gone).call()
        }
        let task = start()
        try await provider.waitForRequest().answer(2)
        await task.finish()
        try await gone.wait()

        #expect(log.entries == ["begin", "success 2", "completion"])
        leaks.verify()
        withExtendedLifetime(task) {}
    }

    // MARK: After the end

    @Test(arguments: WayToEnd.allCases, [CallerPlace.mainActor, .noActor])
    func `a kept task does not hold the handlers of an ended call`(way: WayToEnd, place: CallerPlace) async throws {
        try await place.run { isolation in
            let task = try await way.run(isolation: isolation) { $0.opening(gone, isolation: isolation) }
            try await gone.wait()
            withExtendedLifetime(task) {}
        }
    }

    @Test func `an ended call holds neither provider nor handlers nor value`() async throws {
        let signals = (0..<3).map { _ in Signal() }
        func run() async {
            let (provider, handler) = (DeinitObserver { signals[0].open() }, DeinitObserver { signals[1].open() })
            let integrator = Integrator(
                ClosureDataProvider<Int, DeinitObserver> { _ in
                    withExtendedLifetime(provider) { DeinitObserver { signals[2].open() } }
                })
            integrator.onSuccess { _ in withExtendedLifetime(handler) {} }
            await integrator.prepareCall(1).onSuccess { _ in }.call().finish()
        }

        await run()

        for signal in signals { try await signal.wait() }
    }
}
