import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("A manual clock", .timeLimit(.ample))
struct ManualClockTests {
    @Test("A manual clock moves only when the test moves it")
    func noSleepers() async {
        let clock = ManualClock()
        #expect(clock.now.offset == .zero)
        await clock.advance(by: .seconds(5))
        await clock.advance(by: .seconds(-5))
        #expect(clock.now.offset == .seconds(5))
        await clock.run()
        #expect(clock.now.offset == .seconds(5))
    }

    @Test("The first clock of a process tracks earlier waits")
    func firstClock() async {
        await #expect(processExitsWith: .success) {
            try await TestScope.run {
                let provider = ControlledDataProvider<Int, Int>()
                let queue = Integrator(provider, executing: .queue)
                let tasks = [queue.prepareCall(1).call(), queue.prepareCall(2).call()]
                let first = try await provider.waitForRequest()
                let clock = ManualClock()
                first.answer(1)
                try await provider.waitForRequest().answer(2)
                for task in tasks { await task.finish() }
                // It would wait for ever for one to depart that has arrived.
                await clock.advance(by: .seconds(1))
            }
            try await explore(seeds: 0..<4) { _ in
                let provider = ControlledDataProvider<Int, Int>()
                let task = Integrator(provider).prepareCall(1).call()
                async let value = task.value
                try await provider.waitForRequest().answer(1)
                _ = try await value
                await ManualClock().advance(by: .seconds(1))
            }
        }
    }

    @Test("A manual clock wakes each sleeper at its own time")
    func order() async throws {
        let (clock, log) = (ManualClock(), Log())
        let sleepers = [3, 1, 2].map { seconds in
            Task {
                try await clock.sleep(for: .seconds(seconds))
                log.add("\(seconds) at \(clock.now.offset)")
            }
        }
        try await clock.waitForSleepers(3)
        #expect(clock.remaining == [.seconds(1), .seconds(2), .seconds(3)])
        await clock.advance(by: .seconds(1))
        try await sleepers[1].value
        #expect(log.entries == ["1 at 1.0 seconds"])
        #expect(clock.remaining == [.seconds(1), .seconds(2)])
        await clock.advance(by: .milliseconds(999))
        #expect(clock.remaining.count == 2)
        await clock.advance(by: .milliseconds(1))
        try await sleepers[2].value
        await clock.run()
        try await sleepers[0].value
        #expect(log.entries.count == 3)
        try await clock.waitForNoSleepers()
    }

    @Test("Sleepers with equal deadlines wake in the order of arrival")
    @MainActor
    func sameDeadline() async throws {
        for _ in 0..<50 {
            let (clock, log) = (ManualClock(), Log())
            let integrator = Integrator(Echo<Int>().delay(.seconds(1), clock: clock), clock: clock)
            for number in 0..<6 { integrator.prepareCall(number).onSuccess { log.add("\($0)") }.call() }
            await clock.advance(by: .seconds(1))
            try #require(log.entries == ["0", "1", "2", "3", "4", "5"])
        }
    }

    @Test("A clock tracks handlers and models outside of the main actor")
    @MainActor
    func leavesMain() async throws {
        struct Number: DataModel {
            let value: Int

            init(from source: Int) { value = source }
        }
        for _ in 0..<50 {
            let (clock, log) = (ManualClock(), Log())
            let provider = Echo<Int>().delay(.seconds(1), clock: clock)
            let integrator = Integrator(provider, model: Number.self, executing: .queue, clock: clock)
            for number in 1...3 {
                Self.heardElsewhere(integrator.prepareCall(number), log) { "\($0.value)" }.call()
            }
            await clock.advance(by: .seconds(2))
            try #require(log.entries == ["begin", "1", "end", "begin", "2", "end", "begin"])
            integrator.cancel()
        }
    }

    private nonisolated static func heardElsewhere<Output>(
        _ call: IntegrationCall<Output>, _ log: Log, _ words: @escaping @Sendable (Output) -> String
    ) -> IntegrationCall<Output> {
        call.onBeginning { log.add("begin") }.onSuccess { log.add(words($0)) }.onCompletion { log.add("end") }
    }

    @Test("A clock tracks a task with its executor")
    func ownTasks() async throws {
        for _ in 0..<50 {
            let (clock, log) = (ManualClock(), Log())
            let ticking = Task(executorPreference: clock.executor) {
                for number in 0..<5 {
                    try await clock.sleep(for: .seconds(1))
                    log.add("\(number) at \(clock.now.offset)")
                }
            }
            await clock.advance(by: .seconds(3))
            try #require(log.entries == ["0 at 1.0 seconds", "1 at 2.0 seconds", "2 at 3.0 seconds"])
            ticking.cancel()
        }
    }

    @Test("A clock is at rest while a call is paused")
    @MainActor
    func paused() async throws {
        let (clock, log, control) = (ManualClock(), Log(), PauseControl())
        let integrator = Integrator(Echo<Int>().delay(.seconds(1), clock: clock), clock: clock)
        let task = control.bind { Self.heardElsewhere(integrator.prepareCall(1), log) { "\($0)" }.call() }
        control.pause()
        await clock.advance(by: .seconds(2))
        #expect(log.entries == ["begin"])
        control.resume()
        await task.finish()
        #expect(log.entries == ["begin", "1", "end"])
    }

    @Test("A task on an actor sleeps on that actor")
    func sleepsInPlace() async throws {
        let (clock, elsewhere) = (ManualClock(), CountingExecutor())
        let sleeper = Task(executorPreference: elsewhere) { try await Self.sleepOnMain(clock) }
        try await clock.waitForSleepers(1)
        // Its beginning, and nothing after that.
        #expect(elsewhere.jobCount == 1)
        await clock.advance(by: .seconds(1))
        try await sleeper.value
    }

    @MainActor
    private static func sleepOnMain(_ clock: ManualClock) async throws {
        try await clock.sleep(for: .seconds(1))
    }

    @Test("A cancelled sleeper throws and isn't counted")
    func cancelled() async throws {
        let clock = ManualClock()
        let sleeper = Task { try await clock.sleep(for: .seconds(1)) }
        try await clock.waitForSleepers(1)
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(clock.remaining.isEmpty)
    }

    @Test("A task that is cancelled before doesn't sleep")
    func cancelledBefore() async throws {
        let (clock, gate) = (ManualClock(), Observed(false))
        let sleeper = Task {
            try? await gate.wait(ignoringCancel: true) { $0 }
            try await clock.sleep(for: .seconds(1))
        }
        sleeper.cancel()
        gate.change { $0 = true }
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }

    @Test("The time of a clock saturates")
    func endOfTime() async throws {
        let (clock, longest) = (ManualClock(), Duration(attoseconds: .max))
        for _ in 0..<2 { await clock.advance(by: longest) }
        #expect(clock.now.offset == longest)
        try await clock.sleep(for: longest)
        let beginning = ManualClock.Instant(offset: Duration(attoseconds: .min))
        #expect(beginning.duration(to: clock.now) == longest)
        #expect(clock.now.duration(to: beginning) == beginning.offset)
        #expect(beginning.advanced(by: .seconds(-1)) == beginning)
    }

    @Test("A sleep until an earlier time returns at once")
    func past() async throws {
        let clock = ManualClock()
        await clock.advance(by: .seconds(2))
        try await clock.sleep(until: ManualClock.Instant(offset: .seconds(2)))
        try await clock.sleep(for: .seconds(-1))
    }

    @Test("A cancelled advance moves the time without waiting")
    func cancelledAdvance() async throws {
        let clock = ManualClock()
        // Work that is never at rest.
        clock.workload.beginActivity()
        let advancing = Task { await clock.advance(by: .seconds(1)) }
        advancing.cancel()
        await advancing.value
        #expect(clock.now.offset == .seconds(1))
        clock.workload.endActivity()
        await clock.advance(by: .seconds(1))
        #expect(clock.now.offset == .seconds(2))
    }

    @Test("A manual clock drives debounces", arguments: Place.allCases)
    func debounce(place: Place) async throws {
        let (clock, log) = (ManualClock(), Log())
        let search = Integrator(Echo<Int>(), executing: .latest(debounce: .milliseconds(300)), clock: clock)
        await place.call(search.prepareCall(1), log)
        await clock.advance(by: .milliseconds(200))
        await place.call(search.prepareCall(2), log)
        await clock.advance(by: .milliseconds(299))
        #expect(log.entries.filter { $0 != "superseded" } == [])
        await clock.advance(by: .milliseconds(1))
        #expect(log.entries == ["superseded", "2"])
    }

    @Test("A manual clock drives the delays of retries", arguments: Place.allCases)
    func retries(place: Place) async throws {
        let (clock, log) = (ManualClock(), Log())
        let answers: [Result<Int, any Error>] = [.failure(Trouble.first), .failure(Trouble.first), .success(3)]
        let integrator = Integrator(StubDataProvider<Int, Int>(answers: answers), clock: clock)
        await place.call(integrator.prepareCall(1).retry(2, delay: .constant(.seconds(1))), log)
        await clock.advance(by: .seconds(1))
        #expect(log.entries == [])
        await clock.advance(by: .seconds(1))
        #expect(log.entries == ["3"])
    }

    @Test("A manual clock drives delays and time-outs in a scope", arguments: Place.allCases)
    func providers(place: Place) async throws {
        try await TestScope.run {
            let (clock, log, provider) = (ManualClock(), Log(), ControlledDataProvider<Int, Int>())
            let integrator = Integrator(
                provider.delay(.seconds(1), clock: clock).timeout(.seconds(3), clock: clock)
                    .retry(1, delay: .constant(.seconds(1)), clock: clock))
            await place.call(integrator.prepareCall(1), log)
            await clock.advance(by: .milliseconds(999))
            #expect(provider.requestCount == 0)
            await clock.advance(by: .milliseconds(1))
            #expect(provider.requestCount == 1)
            await clock.advance(by: .seconds(2))
            #expect(clock.remaining == [.seconds(1)])
            await clock.advance(by: .seconds(2))
            try #require(provider.requestCount == 2)
            provider.requests[1].answer(4)
            await clock.rest()
            #expect(log.entries == ["4"])
        }
    }

    @Test("A rest waits for a busy actor, unless it is cancelled", arguments: [false, true])
    func busyActor(isCancelled: Bool) async throws {
        let (clock, log, provider) = (ManualClock(), Log(), ControlledDataProvider<Int, Int>())
        let integrator = Integrator(provider.delay(.seconds(1), clock: clock).timeout(.seconds(3), clock: clock))
        let desk = SlowDesk()
        desk.make(integrator.prepareCall(1), log)
        try await desk.executor.waitForJobs()
        // In one turn, and not in as many as there are awaits: the clock couldn't know when the last of them is over.
        desk.executor.runNext()
        #expect(clock.remaining == [.seconds(1), .seconds(3)])
        let isOver = Observed(false)
        let advanced = Task {
            await clock.advance(by: .seconds(1))
            isOver.change { $0 = true }
        }
        // The clock asks the desk for a turn, and gets none.
        try await desk.executor.waitForJobs()
        #expect(!isOver.value && provider.requestCount == 0)
        if isCancelled { advanced.cancel() } else { desk.executor.open() }
        await advanced.value
        #expect(provider.requestCount == (isCancelled ? 0 : 1))
        desk.executor.open()
        integrator.cancel()
    }

    /// An actor whose turns come when the test says so.
    private actor SlowDesk {
        nonisolated let executor = ManualExecutor()

        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        nonisolated func make(_ call: IntegrationCall<Int>, _ log: Log) {
            assumeIsolated { desk in
                _ = call.onSuccess { log.add("\($0)") }.call(isolation: desk)
            }
        }
    }

    @Test("A rest waits for a whole chain of calls", arguments: Place.allCases)
    func chain(place: Place) async throws {
        let (clock, log) = (ManualClock(), Log())
        let integrator = Integrator(Echo<Int>().delay(.seconds(1), clock: clock), executing: .queue, clock: clock)
        for number in 1...20 { await place.call(integrator.prepareCall(number), log) }
        await clock.advance(by: .seconds(10))
        #expect(log.entries == (1...10).map { "\($0)" })
        await clock.run()
        #expect(log.entries == (1...20).map { "\($0)" })
        #expect(clock.now.offset == .seconds(20))
    }

    @Test("A clock tracks a provider that is an actor", arguments: [Place.nowhere, .actor])
    func actors(place: Place) async throws {
        let (clock, log) = (ManualClock(), Log())
        let integrator = Integrator(Teller(), executing: .latest(debounce: .seconds(1)), clock: clock)
        await place.call(integrator.prepareCall(5), log)
        await clock.advance(by: .seconds(1))
        #expect(log.entries == ["5"])
    }

    private actor Teller: DataProvider {
        private var last = 0

        func request(_ input: Int) async throws -> Int {
            last = input
            return await hop()
        }

        @concurrent
        private func hop() async -> Int { await last }
    }

    @Test("A clock keeps synchronous delivery on the main actor")
    @MainActor
    func synchrony() {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let (clock, log) = (ManualClock(), Log())
        let integrator = Integrator(Echo<Int>(), executing: .latest, clock: clock)
        integrator.prepareCall(5).onSuccess { log.add("\($0)") }.call()
        #expect(log.entries == ["5"])
    }

    /// The actor of calls and handlers.
    enum Place: CaseIterable, Sendable {
        case main, nowhere, actor

        func call(_ call: IntegrationCall<Int>, _ log: Log) async {
            switch self {
            case .main: await onMain(call, log)
            case .nowhere: call.onSuccess { log.add("\($0)") }.onCancel { log.add("\($0)") }.call()
            case .actor: await Desk().make(call, log)
            }
        }

        @MainActor
        private func onMain(_ call: IntegrationCall<Int>, _ log: Log) {
            call.onSuccess { log.add("\($0)") }.onCancel { log.add("\($0)") }.call()
        }
    }

    private actor Desk {
        func make(_ call: IntegrationCall<Int>, _ log: Log) {
            call.onSuccess { log.add("\($0)") }.onCancel { log.add("\($0)") }.call()
        }
    }
}
