import IDMCore
import IDMTesting
import TestSupport
import Testing

/// Several tasks that move one clock, or wait for it.
extension ManualClockTests {
    @Test("Two tasks move the time in turn", arguments: 0..<50)
    func twoMovers(round: Int) async throws {
        let (clock, log) = (ManualClock(), Log())
        let sleeper = Task(executorPreference: clock.executor) {
            for _ in 0..<3 {
                try await clock.sleep(for: .milliseconds(500))
                log.add("\(clock.now.offset)")
            }
        }
        async let first: Void = clock.advance(by: .seconds(1))
        async let second: Void = clock.advance(by: .seconds(1))
        _ = await (first, second)
        try #require(clock.now.offset == .seconds(2))
        try #require(log.entries == ["0.5 seconds", "1.0 seconds", "1.5 seconds"])
        try await sleeper.value
    }

    @Test("A cancelled move is added to a running one")
    func cancelledMover() async throws {
        let clock = ManualClock()
        // Work that isn't at rest.
        clock.workload.beginActivity()
        let (first, second) = (startMoving(clock), startMoving(clock))
        second.cancel()
        await second.value
        // From where the first is on its way to: each is in the line once it is started, where that is at once.
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            #expect(clock.now.offset == .seconds(2))
        }
        first.cancel()
        await first.value
        clock.workload.endActivity()
        #expect(clock.now.offset == .seconds(2))
    }

    private func startMoving(_ clock: ManualClock) -> Task<Void, Never> {
        LibraryTask.startAtOnce(isolation: nil) { _ in await clock.advance(by: .seconds(1)) }
    }

    @Test("A task of the clock's executor may move the time")
    func moverInMover() async throws {
        let (clock, log) = (ManualClock(), Log())
        let inner = Task(executorPreference: clock.executor) {
            try await clock.sleep(for: .seconds(1))
            await clock.advance(by: .seconds(1))
            log.add("\(clock.now.offset)")
        }
        await clock.advance(by: .seconds(5))
        try await inner.value
        #expect(clock.now.offset == .seconds(6))
        #expect(log.entries == ["6.0 seconds"])
    }

    @Test("Tasks that wait for rest resume in the order of the seed", arguments: [false, true])
    func explored(moves: Bool) async throws {
        func order(_ seed: Int) async throws -> [String] {
            let log = Log()
            try await explore(seeds: [seed]) { executor in
                let clocks = [ManualClock(), ManualClock()]
                let tasks = (0..<4).map { number in
                    Task(executorPreference: executor) {
                        let clock = clocks[number % 2]
                        if moves { await clock.advance(by: .seconds(1)) } else { await clock.rest() }
                        log.add("\(number)")
                    }
                }
                for task in tasks { await task.value }
            }
            return log.entries
        }
        var orders: Set<[String]> = []
        for seed in 0..<30 {
            let first = try await order(seed)
            for _ in 0..<5 { try #require(try await order(seed) == first) }
            orders.insert(first)
        }
        #expect(orders.count > 5)
    }

    @Test("Many sleepers wake in the order of deadline and arrival")
    @MainActor
    func many() async throws {
        let (clock, log) = (ManualClock(), Log())
        var random = SplitMix(seed: 7)
        let seconds = (0..<200).map { _ in Int.random(in: 0...9, using: &random) }
        let integrator = Integrator(
            ClosureDataProvider<Int, Void> { number in
                try await clock.sleep(for: .seconds(seconds[number]))
                log.add("\(number)")
            }, clock: clock)
        for number in seconds.indices { integrator.prepareCall(number).call() }
        await clock.rest()
        #expect(clock.remaining == seconds.filter { $0 > 0 }.sorted().map { .seconds($0) })
        await clock.run()
        #expect(log.entries == seconds.indices.sorted { (seconds[$0], $0) < (seconds[$1], $1) }.map { "\($0)" })
    }

    @Test("No sleeper with a past deadline stays asleep")
    func lateSleepers() async throws {
        let (clock, isOver) = (ManualClock(), Observed(false))
        let step = Duration.nanoseconds(1)
        let sleepers = (0..<3).map { _ in
            Task { while !isOver.value { try? await clock.sleep(until: clock.now.advanced(by: step)) } }
        }
        let mover = Task { () -> Int in
            for round in 0..<20_000 {
                await clock.advance(by: step)
                if clock.remaining.contains(where: { $0 <= .zero }) { return round }
            }
            return 20_000
        }
        // So it waits for no rest, and moves the time as often as it can.
        mover.cancel()
        #expect(await mover.value == 20_000)
        isOver.change { $0 = true }
        for sleeper in sleepers {
            sleeper.cancel()
            await sleeper.value
        }
    }
}
