import IDMCore
import IDMTesting
import TestSupport
import Testing

/// ``GrammarTests`` has the ways to end.
@Suite("Rule 1: a call ends exactly once", .inScope, .timeLimit(.ample))
struct Rule01EndingTests {
    private let log = Log()
    private let gone = Signal()

    @Test(arguments: [
        (ExecutingType.default, "success 0"), (.only, "cancel ignored"), (.queue(width: 2), "success 0"),
        (.latest, "cancel superseded"),
    ])
    func `a provider that calls its own integrator obeys the executing type`(
        type: ExecutingType, end: String
    ) async throws {
        let itself = Observed<Integrator<Int, Int>?>(nil)
        let provider = ClosureDataProvider<Int, Int> { input in
            guard input > 0, let integrator = itself.value else { return input }
            return try await integrator.request(input - 1)
        }
        let integrator = Integrator(provider, executing: type)
        itself.change { $0 = integrator }

        await integrator.prepareCall(1).recorded(in: log).opening(gone).call().finish()
        try await gone.wait()
        itself.change { $0 = nil }

        #expect(log.entries == ["begin", end, "completion"])
    }

    @Test func `a provider that awaits its own queue ends when it is cancelled`() async throws {
        let isInside = Signal()
        let itself = Observed<Integrator<Int, Int>?>(nil)
        let log = log
        let provider = ClosureDataProvider<Int, Int> { input in
            guard input > 0, let integrator = itself.value else { return input }
            let inner = integrator.prepareCall(0).recorded(in: log, as: "inner").call()
            isInside.open()
            return try await inner.value
        }
        let integrator = Integrator(provider, executing: .queue)
        itself.change { $0 = integrator }
        let task = integrator.prepareCall(1).recorded(in: log, as: "outer").call()
        try await isInside.wait()

        integrator.cancel()
        await task.finish()
        try await log.contains("inner: cancel cancelled")
        itself.change { $0 = nil }

        #expect(log.entries(of: "outer") == ["begin", "cancel cancelled", "completion"])
        #expect(log.entries(of: "inner") == ["cancel cancelled"])
    }

    @Test(arguments: ExecutingType.several)
    func `each of a hundred cancelled calls ends once`(type: ExecutingType) async {
        let integrator = Integrator(ControlledDataProvider<Int, Int>(), executing: type)
        let tasks = (0..<100).map { input in
            integrator.prepareCall(input).onCancel { [log] _ in log.add("\(input)") }.call()
        }

        integrator.cancel()
        for task in tasks { await task.finish() }

        #expect(log.entries.sorted() == (0..<100).map { "\($0)" }.sorted())
    }
}
