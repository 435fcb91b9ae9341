import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite(
    "Rule 5: after cancel() returns on the handlers' actor, no value and no progress follows", .timeLimit(.ample))
@MainActor
struct Rule05CancelRaceTests {
    /// What the handlers of one run heard, and where the cancel stood in it.
    @MainActor
    private final class Hearing {
        var heard: [String] = []
        var hasReturned = false
        var late: [String] = []

        func hear(_ line: String) {
            heard.append(line)
            if hasReturned && (line == "success" || line == "progress") { late.append(line) }
        }
    }

    private enum Way: CaseIterable {
        case task, integrator, supersession
    }

    /// Answers in its own time, from the pool, while the main actor cancels.
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

    /// One run, made off the main actor, and cancelled on it while it answers.
    private func race(_ makeProvider: (Signal) -> any DataProvider<Int, Int>, _ way: Way, spins: Int) async -> Hearing {
        let (go, hearing) = (Signal(), Hearing())
        let integrator = Self.integrator(makeProvider(go), executing: way == .supersession ? .latest : .default)
        let call = integrator.prepareCall(spins)
            .onBeginning { hearing.hear("begin") }
            .onProgress { _ in hearing.hear("progress") }
            .onSuccess { _ in hearing.hear("success") }
            .onCancel { _ in hearing.hear("cancel") }
            .onCompletion { hearing.hear("completion") }
        let task = await Self.makeElsewhere(call)
        async let opening: Void = Self.open(go)
        // One more turn of the main actor, now and then: the answer and the cancel meet at another place.
        if spins % 3 == 0 { await opening }
        switch way {
        case .task: task.cancel()
        case .integrator: integrator.cancel()
        case .supersession: integrator.prepareCall(0).call()
        }
        hearing.hasReturned = true
        await opening
        await task.finish()
        return hearing
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

    @Test("Thousands of answers race a cancel")
    func answers() async {
        await race(isStream: false) { Racing(go: $0) }
    }

    @Test("Thousands of values of streams race a cancel")
    func values() async {
        await race(isStream: true) { RacingStream(go: $0) }
    }

    private func race(isStream: Bool, _ makeProvider: (Signal) -> any DataProvider<Int, Int>) async {
        for round in 0..<Volume.of(30_000, normally: 500) {
            for way in Way.allCases {
                let hearing = await race(makeProvider, way, spins: round % 7)
                #expect(hearing.late == [])
                let ends = hearing.heard.filter { $0 == "cancel" || $0 == "success" }
                #expect(isStream || ends.count == 1)
                #expect(hearing.heard == ["cancel"] || hearing.heard.last == "completion")
            }
        }
    }
}
