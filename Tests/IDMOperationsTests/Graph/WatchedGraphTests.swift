import IDMCore
import IDMOperations
import IDMTesting
import TestSupport
import Testing

@Suite("For a clock a graph", .timeLimit(.ample))
@MainActor
struct WatchedGraphTests {
    @Test("is on its way from node to node and to its end, called on the main actor")
    func isWatched() async throws {
        try await TestScope.run {
            let (clock, log) = (ManualClock(), Log())
            let step = ClosureDataProvider<Void, Void> {
                log.add(clock.isAtRest ? "unseen" : "\(clock.now.offset)")
            }
            var graph = OperationGraph<Void>()
            let first = graph.add("first", step.delay(.seconds(1), clock: clock))
            let second = graph.add("second", step, after: first)
            graph.add("third", step.delay(.seconds(1), clock: clock), after: second)
            let integrator = Integrator(graph)
            integrator.prepareCall().onSuccess { _ in log.add("end") }.call()
            await clock.advance(by: .seconds(2))
            #expect(log.entries == ["1.0 seconds", "1.0 seconds", "2.0 seconds", "end"])
        }
    }
}
