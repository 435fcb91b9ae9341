import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("Rule 5: no value and no progress follow cancel() on the handlers' actor", .timeLimit(.ample))
@MainActor
struct Rule05CancelRaceTests {
    /// The events of one call, and those that came after `cancel()` had returned.
    @MainActor
    private final class Events {
        var all: [String] = []
        var hasReturned = false
        var late: [String] = []

        func add(_ line: String) {
            all.append(line)
            if hasReturned && (line == "success" || line == "progress") { late.append(line) }
        }
    }

    private enum Way: CaseIterable {
        case task, integrator, supersession
    }

    /// Answers on the pool while the main actor cancels.
    private struct Racing: DataProvider {
        let go: Signal

        @concurrent
        func request(_ spins: Int) async throws -> Int {
            try await go.wait()
            for spin in 0..<spins { IntegrationProgress.report(completed: Int64(spin), total: Int64(spins)) }
            return spins
        }
    }

    private struct RacingStream: StreamDataProvider {
        let go: Signal

        func values(for count: Int) -> AsyncThrowingStream<Int, any Error> {
            AsyncThrowingStream { [go] continuation in
                let sending = Task {
                    try await go.wait()
                    for value in 0...count { continuation.yield(value) }
                    continuation.finish()
                }
                continuation.onTermination = { _ in sending.cancel() }
            }
        }
    }

    /// Makes a call off the main actor, and cancels it there while the provider answers.
    private func race(_ makeProvider: (Signal) -> any DataProvider<Int, Int>, _ way: Way, spins: Int) async -> Events {
        let (go, events) = (Signal(), Events())
        let integrator = Self.integrator(makeProvider(go), executing: way == .supersession ? .latest : .default)
        let call = integrator.prepareCall(spins)
            .onBeginning { events.add("begin") }
            .onProgress { _ in events.add("progress") }
            .onSuccess { _ in events.add("success") }
            .onCancel { _ in events.add("cancel") }
            .onCompletion { events.add("completion") }
        let task = await Self.makeElsewhere(call)
        async let opening: Void = Self.open(go)
        // Another turn of the main actor in every third round, so that answer and cancel meet at another point.
        if spins % 3 == 0 { await opening }
        switch way {
        case .task: task.cancel()
        case .integrator: integrator.cancel()
        case .supersession: integrator.prepareCall(0).call()
        }
        events.hasReturned = true
        await opening
        await task.finish()
        return events
    }

    private static func integrator(
        _ provider: some DataProvider<Int, Int>, executing type: ExecutingType
    ) -> Integrator<Int, Int> {
        Integrator(provider, executing: type)
    }

    @concurrent
    private static func makeElsewhere(_ call: IntegrationCall<Int>) async -> IntegrationTask<Int> { call.call() }

    @concurrent
    private static func open(_ signal: Signal) async { signal.open() }

    @Test func `an answer that races a cancel is not delivered after it`() async {
        await race(isStream: false) { Racing(go: $0) }
    }

    @Test func `a stream value that races a cancel is not delivered after it`() async {
        await race(isStream: true) { RacingStream(go: $0) }
    }

    private func race(isStream: Bool, _ makeProvider: (Signal) -> any DataProvider<Int, Int>) async {
        for round in 0..<Volume.of(30_000, normally: 500) {
            for way in Way.allCases {
                let events = await race(makeProvider, way, spins: round % 7)
                #expect(events.late == [])
                let ends = events.all.filter { $0 == "cancel" || $0 == "success" }
                #expect(isStream || ends.count == 1)
                #expect(events.all == ["cancel"] || events.all.last == "completion")
            }
        }
    }
}
