import IDMCore
import TestSupport
import Testing

@testable import IDMTesting

/// What a clock knows of calls that are made on an actor, or on none.
extension ManualClockTests {
    @Test("knows of what a provider does on no actor, for a call on an actor", arguments: [Place.actor, .nowhere])
    func concurrentProvider(place: Place) async throws {
        let (clock, log) = (ManualClock(), Log())
        let workload = try #require(clock.workload as? Workload)
        let provider = Elsewhere { log.add(workload.turnsAtRest == nil ? "seen" : "unseen") }
        let integrator = Integrator(provider, clock: clock)
        await place.call(integrator.prepareCall(5), log)
        await clock.rest()
        #expect(log.entries == ["seen", "5"])
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
