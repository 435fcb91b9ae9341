import IDMCore
import IDMTesting
import TestSupport
import Testing

/// What is made of providers that keep the contract keeps it as well, and lets go of them. The time is the clock's: what
/// doesn't come when everything is at rest doesn't come.
@Suite("The contract of providers, kept by", .inScope, .timeLimit(.ample))
struct CompositionContractTests {
    /// Answers after a second, or fails then, so that a cancel comes while it is at work.
    private final class Slow: DataProvider {
        private let clock: ManualClock
        private let fails: Bool

        init(_ clock: ManualClock, fails: Bool = false) {
            self.clock = clock
            self.fails = fails
        }

        func request(_ input: Int) async throws -> Int {
            try await clock.sleep(for: .seconds(1))
            if fails { throw Trouble.numbered(input) }
            return input
        }
    }

    /// Delivers its input and then ten times that, a second before each.
    private final class SlowStream: StreamDataProvider {
        private let base: MergeDataProvider<Slow, MapDataProvider<Slow, Int>>

        init(_ clock: ManualClock) {
            base = Slow(clock).merged(with: Slow(clock).map { $0 * 10 })
        }

        func values(for input: Int) -> ProviderValues<Int> { base.values(for: input) }
    }

    private struct Model: DataModel, Equatable {
        let number: Int
        init(from source: Int) { number = source }
    }

    private let clock = ManualClock()
    private let leaks = LeakTracker()

    /// Asks with two inputs, so that an answer that goes to the wrong request is seen.
    private func expectKept<Provider: DataProvider>(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column,
        _ make: @escaping @Sendable () -> Provider
    ) async throws where Provider.Input == Int, Provider.Output: Equatable {
        let check = Task(executorPreference: clock.executor) { [clock] in
            _ = try await DataProviderContract.check(
                inputs: 1, 2, patience: .init(clock: clock), fileID: fileID, filePath: filePath, line: line,
                column: column, make)
        }
        await clock.run()
        try await check.valueHearingCancel
    }

    /// Of what is made with one that answers and one that fails. Nothing holds them in the end.
    private func expectKept<Provider: DataProvider>(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column,
        _ make: @escaping @Sendable (_ slow: Slow, _ failing: Slow) -> Provider
    ) async throws where Provider.Input == Int, Provider.Output: Equatable {
        try await expectKept(fileID: fileID, filePath: filePath, line: line, column: column) { [clock, leaks] in
            make(
                leaks.track(Slow(clock), fileID: fileID, filePath: filePath, line: line, column: column),
                leaks.track(Slow(clock, fails: true), fileID: fileID, filePath: filePath, line: line, column: column))
        }
    }

    /// Of what is made with a stream.
    private func expectKept<Provider: DataProvider>(
        stream make: @escaping @Sendable (SlowStream) -> Provider,
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) async throws where Provider.Input == Int, Provider.Output: Equatable {
        try await expectKept(fileID: fileID, filePath: filePath, line: line, column: column) { [clock, leaks] in
            make(leaks.track(SlowStream(clock), fileID: fileID, filePath: filePath, line: line, column: column))
        }
    }

    @Test("nobody who is deaf to a cancel: that is an issue, at the line that asks")
    func broken() async throws {
        let (line, found) = (#line + 2, Log())
        try await withKnownIssue {
            try await expectKept { ControlledDataProvider<Int, Int>(hearsCancel: false) }
        } matching: { issue in
            found.add("\(issue.sourceLocation?.line ?? 0)")
            return true
        }
        // It never answers, hears no cancel and is never let go.
        #expect(found.entries == Array(repeating: "\(line)", count: 3))
    }

    @Test("transformed ones")
    func transformed() async throws {
        try await expectKept { slow, _ in slow }
        try await expectKept { slow, _ in slow.map { $0 + 1 } }
        try await expectKept { slow, _ in slow.mapInput { $0 + 1 } }
        try await expectKept { slow, _ in slow.mapError { $0 } }
        try await expectKept { _, failing in failing.mapError { _ in Trouble.first } }
        try await expectKept { slow, _ in slow.eraseToAnyDataProvider() }
    }

    @Test("sequences and models")
    func sequences() async throws {
        try await expectKept { slow, _ in slow >>>> slow }
        try await expectKept { slow, failing in slow >>>> failing }
        try await expectKept { slow, _ in slow >>>> { $0 + 1 } }
        try await expectKept { slow, _ in slow >>>> Model.self }
        try await expectKept { slow, _ in slow.model(Model.self) }
    }

    @Test("groups")
    func groups() async throws {
        try await expectKept { slow, _ in
            (slow >><< slow).mapInput { (input: Int) in (input, input + 1) }.map { [$0.0, $0.1] }
        }
        try await expectKept { slow, failing in
            (slow >><< failing).mapInput { (input: Int) in (input, input) }.map { $0.0 }
        }
        try await expectKept { slow, failing in
            (slow >><< failing).collectingResults().mapInput { (input: Int) in (input, input) }.map { try $0.0.get() }
        }
        try await expectKept { slow, _ in
            (slow >><< slow).grouped().mapInput { (input: Int) in (input, input + 1) }.map { [$0.0, $0.1] }
        }
        try await expectKept { slow, _ in slow.each(maxConcurrent: 2).mapInput { (input: Int) in [input, 7, 8] } }
    }

    @Test("those that recover, and those that can't")
    func recovering() async throws {
        try await expectKept { slow, failing in failing.fallback(to: slow) }
        try await expectKept { _, failing in failing.retry(1) }
        try await expectKept { [clock] _, failing in failing.retry(1, delay: .constant(.seconds(1)), clock: clock) }
    }

    @Test("those with a time of their own")
    func timed() async throws {
        try await expectKept { [clock] slow, _ in slow.delay(.seconds(1), clock: clock) }
        try await expectKept { [clock] slow, _ in slow.timeout(.seconds(5), clock: clock) }
        try await expectKept { [clock] slow, _ in slow.timeout(.milliseconds(500), clock: clock) }
    }

    @Test("those that share, add and deliver more than once")
    func shared() async throws {
        try await expectKept { slow, _ in slow.coalesced() }
        try await expectKept { slow, failing in slow.attached(failing) }
        try await expectKept { slow, _ in slow.merged(with: slow) }
    }

    @Test("streams, and what stays one")
    func streams() async throws {
        try await expectKept(stream: { $0 })
        try await expectKept(stream: { $0.map { $0 + 1 } })
        try await expectKept(stream: { $0.mapInput { $0 + 1 } })
        try await expectKept(stream: { $0.mapError { $0 } })
        try await expectKept(stream: { $0.eraseToAnyDataProvider() })
        try await expectKept(stream: { $0 >>>> Model.self })
        try await expectKept(stream: { $0.model(Model.self) })
        try await expectKept(stream: { [clock] in $0.delay(.seconds(1), clock: clock) })
        try await expectKept(stream: { [clock] in $0.timeout(.seconds(5), clock: clock) })
        try await expectKept(stream: { $0.fallback(to: $0) })
        try await expectKept(stream: { $0.retry(1) })
        try await expectKept(stream: { [clock] in $0.attached(Slow(clock)) })
    }

    @Test("what takes the last value of a stream")
    func lastValues() async throws {
        try await expectKept(stream: { [clock] in $0 >>>> Slow(clock) })
        try await expectKept(stream: { $0.coalesced() })
        try await expectKept(stream: { $0.each().mapInput { (input: Int) in [input, input] } })
        try await expectKept(stream: { ($0 >><< $0).mapInput { (input: Int) in (input, input) }.map { $0.0 } })
    }

    /// Of twenty requests at once the last is to be answered within ten seconds, and each with its own input: that is
    /// more than a line of one, or calls that are joined, can do.
    @Test("integrators", arguments: [ExecutingType.default, .queue(width: 7)])
    func integrators(type: ExecutingType) async throws {
        try await expectKept { [clock] slow, _ in Integrator(slow, executing: type, clock: clock) }
    }
}
