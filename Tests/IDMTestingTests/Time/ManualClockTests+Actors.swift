import IDMCore
import IDMTesting
import TestSupport
import Testing

/// Tests of calls on an actor, and on none.
extension ManualClockTests {
    @Test("A clock tracks work on no actor for a call on an actor", arguments: [Place.actor, .nowhere])
    func concurrentProvider(place: Place) async throws {
        let (clock, log) = (ManualClock(), Log())
        let provider = Elsewhere { log.add(clock.isAtRest ? "unseen" : "seen") }
        let integrator = Integrator(provider, clock: clock)
        await place.call(integrator.prepareCall(5), log)
        await clock.rest()
        #expect(log.entries == ["seen", "5"])
    }

    @Test("Calls of a handler on an actor start in order")
    func orderInHandlers() async throws {
        for _ in 0..<50 {
            let (clock, log) = (ManualClock(), Log())
            let inputs = Log()
            let first = Integrator(Echo<Int>(), clock: clock)
            let second = Integrator(Elsewhere { inputs.add("asked") }, clock: clock)
            await Clerk().call(first, then: second, count: 50, log)
            await clock.rest()
            first.cancel()
            try #require(inputs.entries.count == 50)
            try #require(log.entries == (0..<50).map { "\($0)" })
        }
    }

    private actor Clerk {
        func call(_ first: Integrator<Int, Int>, then second: Integrator<Int, Int>, count: Int, _ log: Log) {
            first.prepareCall(0)
                .onSuccess { [self] _ in
                    preconditionIsolated()
                    for number in 0..<count {
                        second.prepareCall(number).onBeginning { log.add("\(number)") }.call()
                    }
                }
                .call()
        }
    }

    private struct Elsewhere: DataProvider {
        let look: @Sendable () -> Void

        @concurrent
        func request(_ input: Int) async throws -> Int {
            look()
            return input
        }
    }
}
