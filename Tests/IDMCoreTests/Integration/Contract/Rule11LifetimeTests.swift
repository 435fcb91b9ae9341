import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("Rule 11: calls and tasks hold the integrator, runs do not", .inScope, .timeLimit(.ample))
struct Rule11LifetimeTests {
    private let provider = ControlledDataProvider<Int, Int>()
    private let log = Log()
    private let gone = Signal()

    // MARK: Who holds the integrator

    @Test("A call value holds its integrator")
    func callHolds() {
        var integrator: Integrator<Int, Int>? = Integrator(provider)
        weak let held = integrator
        let call = integrator?.prepareCall(1).onSuccess { _ in }
        integrator = nil
        withExtendedLifetime(call) { #expect(held != nil) }
    }

    @Test("A task holds its integrator, while the run goes on and after it")
    func taskHolds() async throws {
        var integrator: Integrator<Int, Int>? = Integrator(provider)
        weak let held = integrator
        let task = integrator?.prepareCall(1).call()
        integrator = nil
        #expect(held != nil)
        try await provider.nextRequest().answer(1)
        await task?.finish()
        withExtendedLifetime(task) { #expect(held != nil) }
    }

    @Test(
        "A run does not hold its integrator: with nothing else to hold it, it ends with .released",
        arguments: [false, true])
    func runDoesNotHold(isDeaf: Bool) async throws {
        let (provider, leaks) = (ControlledDataProvider<Int, Int>(hearsCancel: !isDeaf), LeakTracker())
        var integrator: Integrator<Int, Int>? = leaks.track(Integrator(provider))
        _ = integrator?.prepareCall(1).recorded(in: log).call()
        let request = try await provider.nextRequest()
        integrator = nil
        leaks.verify()
        try await log.contains("completion")
        try await request.cancelled()
        #expect(log.entries == ["begin", "cancel released", "completion"])
        request.answer(1)
    }

    @Test("All runs and all that wait are released", arguments: ExecutingType.several)
    func allAreReleased(type: ExecutingType) async throws {
        var integrator: Integrator<Int, Int>? = Integrator(provider, executing: type)
        for input in 0..<3 { _ = integrator?.prepareCall(input).recorded(in: log, as: "\(input)").call() }
        _ = try await provider.nextRequest()
        integrator = nil
        for input in 0..<3 {
            try await log.contains { $0.contains { $0.hasPrefix("\(input): cancel") } }
            let reasons = log.entries(of: "\(input)").filter { $0.hasPrefix("cancel") }
            let isTurnedAway = type == .only && input > 0
            let isSuperseded = type == .latest && input < 2
            #expect(
                reasons == [isTurnedAway ? "cancel ignored" : isSuperseded ? "cancel superseded" : "cancel released"])
        }
    }

    @Test("A run in each lane is released")
    func lanesAreReleased() async throws {
        var integrator: Integrator<Int, Int>? = Integrator(provider, executing: .only, lane: { $0 })
        for input in 0..<3 { _ = integrator?.prepareCall(input).recorded(in: log, as: "\(input)").call() }
        for _ in 0..<3 { _ = try await provider.nextRequest() }
        integrator = nil
        for input in 0..<3 {
            try await log.contains("\(input): completion")
            #expect(log.entries(of: "\(input)") == ["begin", "cancel released", "completion"])
        }
    }

    @Test("A call that waits for the quiet is released unstarted, and its clock is left alone")
    func settlingIsReleased() async throws {
        let clock = ManualClock()
        var integrator: Integrator<Int, Int>? = Integrator(
            Echo<Int>(), executing: .latest(debounce: .seconds(1)), clock: clock)
        _ = integrator?.prepareCall(1).recorded(in: log).call()
        try await clock.sleepers(1)
        integrator = nil
        try await log.count(reaches: 1)
        #expect(log.entries == ["cancel released"])
        try await clock.noSleepers()
    }

    @Test("An awaited request holds its integrator until it has the value")
    func requestHolds() async throws {
        var integrator: Integrator<Int, Int>? = Integrator(provider)
        let awaiting = Task { [integrator] in try await integrator?.request(1) }
        let request = try await provider.nextRequest()
        integrator = nil
        request.answer(7)
        #expect(try await awaiting.value == 7)
    }

    // MARK: Chained calls

    @Test("A chained call is held until it has run, though nobody else holds its integrator")
    func chainedIsHeld() async throws {
        let next = ControlledDataProvider<Int, Int>()
        let chained = Watched<IntegrationCall<Int>?>(Integrator(next).prepareCall(2).recorded(in: log, as: "next"))
        let first = Integrator(provider)
        if let call = chained.value { first.prepareCall(1).nextSuccess(call).opening(gone).call() }
        chained.change { $0 = nil }
        try await provider.nextRequest().answer(1)
        let request = try await next.nextRequest()
        // The call before has gone, with all that it held.
        try await gone.wait()
        request.answer(2)
        try await log.contains("next: completion")
        #expect(log.entries(of: "next") == ["begin", "success 2", "completion"])
    }

    @Test("An integrator to which a value is forwarded is held until that call has run")
    func forwardedIsHeld() async throws {
        let next = ControlledDataProvider<Int, Int>()
        let first = Integrator(provider)
        first.prepareCall(1).forwardSuccess(to: Integrator(next)) { [log] in $0.recorded(in: log) }.opening(gone).call()
        try await provider.nextRequest().answer(1)
        let request = try await next.nextRequest()
        try await gone.wait()
        request.answer(2)
        try await log.contains("completion")
        #expect(log.entries == ["begin", "success 2", "completion"])
    }

    @Test("A call made before another one is held until it has run")
    func predecessorIsHeld() async throws {
        let before = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider)
        let task = integrator.prepareCall(2).after(Integrator(before).prepareCall(1).recorded(in: log)).call()
        try await before.nextRequest().answer(1)
        try await provider.nextRequest().answer(2)
        #expect(await task.outcome == .success(2))
        #expect(log.entries == ["begin", "success 1", "completion"])
    }

    @Test("A chain lets go of its integrators when it has run")
    func chainLetsGo() async throws {
        let leaks = LeakTracker()
        var first: Integrator<Int, Int>? = leaks.track(Integrator(Echo<Int>()), as: "the first")
        var second: Integrator<Int, Int>? = leaks.track(Integrator(Echo<Int>()), as: "the second")
        if let a = first, let b = second {
            let task = a.prepareCall(1).nextSuccess(b.prepareCall(2).opening(gone)).call()
            await task.finish()
        }
        (first, second) = (nil, nil)
        try await gone.wait()
        leaks.verify()
    }

    // MARK: What is left after the end

    @Test("After the end nothing holds the handlers, though the task is kept", arguments: WayToEnd.allCases)
    func handlersGo(way: WayToEnd) async throws {
        let task = try await way.run { $0.opening(gone) }
        try await gone.wait()
        withExtendedLifetime(task) {}
    }

    @Test(
        "After the end nothing holds the handlers of the main actor, though the task is kept",
        arguments: WayToEnd.allCases)
    @MainActor
    func handlersOfAnActorGo(way: WayToEnd) async throws {
        let task = try await way.run { $0.opening(gone) }
        try await gone.wait()
        withExtendedLifetime(task) {}
    }

    @Test("After the end nothing holds the integrator, nor its provider, nor its handlers")
    func integratorGoes() async throws {
        let (providerGone, handlerGone) = (Signal(), Signal())
        func run() async {
            let (provider, handler) = (Canary { providerGone.open() }, Canary { handlerGone.open() })
            let integrator = Integrator(
                ClosureDataProvider<Int, Int> { input in withExtendedLifetime(provider) { input } })
            integrator.onSuccess { _ in withExtendedLifetime(handler) {} }
            await integrator.prepareCall(1).call().finish()
        }
        await run()
        try await providerGone.wait()
        try await handlerGone.wait()
    }

    @Test("A value is not held by the call after the task has gone")
    func valueGoes() async throws {
        func run() async {
            let integrator = Integrator(ClosureDataProvider<Int, Canary> { [gone] _ in Canary { gone.open() } })
            await integrator.prepareCall(1).onSuccess { _ in }.call().finish()
        }
        await run()
        try await gone.wait()
    }

    @Test("A task that is kept holds the integrator of no other call that has run", arguments: [false, true])
    func keptTask(isBefore: Bool) async throws {
        let log = log
        func run() async -> IntegrationTask<Int> {
            let canary = Canary { [gone] in gone.open() }
            let other = Integrator(ClosureDataProvider<Int, Int> { input in withExtendedLifetime(canary) { input } })
            let it = other.prepareCall(2).onSuccess { log.add("\($0)") }
            let call = Integrator(Echo<Int>()).prepareCall(1)
            let task = isBefore ? call.after(it).call() : call.nextSuccess(it).call()
            await task.finish()
            return task
        }
        let task = await run()
        #expect(log.entries == ["2"])
        try await gone.wait()
        withExtendedLifetime(task) {}
    }
}
