import IDMCore
import IDMTesting
import TestSupport
import Testing

/// What is made of providers that keep the contract keeps it as well, and lets go of them. The time is the clock's:
/// what doesn't come when everything is at rest doesn't come.
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

    /// What something is made of. Nothing holds it in the end.
    private struct Parts: Sendable {
        let slow: Slow
        let failing: Slow
        let stream: SlowStream
    }

    /// Asks with two inputs, so that an answer that goes to the wrong request is seen.
    private func expectKept<Provider: DataProvider>(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column,
        _ make: @escaping @Sendable (Parts) -> Provider
    ) async throws where Provider.Input == Int, Provider.Output: Equatable {
        let check = Task(executorPreference: clock.executor) { [clock, leaks] in
            @Sendable func tracked<Part: AnyObject & Sendable>(_ part: Part) -> Part {
                leaks.track(part, fileID: fileID, filePath: filePath, line: line, column: column)
            }
            _ = try await DataProviderContract.check(
                inputs: 1, 2, limits: .init(clock: clock), fileID: fileID, filePath: filePath, line: line,
                column: column
            ) {
                make(
                    Parts(
                        slow: tracked(Slow(clock)), failing: tracked(Slow(clock, fails: true)),
                        stream: tracked(SlowStream(clock))))
            }
        }
        await clock.run()
        try await check.valueHearingCancel
    }

    @Test("nobody who is deaf to a cancel: that is an issue, at the line that asks")
    func broken() async throws {
        let (line, found) = (#line + 2, Log())
        try await withKnownIssue {
            try await expectKept { _ in ControlledDataProvider<Int, Int>(hearsCancel: false) }
        } matching: { issue in
            found.add("\(issue.sourceLocation?.line ?? 0)")
            return true
        }
        #expect(found.entries == ["\(line)"])
    }

    @Test("transformed ones")
    func transformed() async throws {
        try await expectKept { $0.slow }
        try await expectKept { $0.slow.map { $0 + 1 } }
        try await expectKept { $0.slow.mapInput { $0 + 1 } }
        try await expectKept { $0.slow.mapError { $0 } }
        try await expectKept { $0.failing.mapError { _ in Trouble.first } }
        try await expectKept { $0.slow.eraseToAnyDataProvider() }
    }

    @Test("sequences and models")
    func sequences() async throws {
        try await expectKept { $0.slow >>>> $0.slow }
        try await expectKept { $0.slow >>>> $0.failing }
        try await expectKept { $0.slow >>>> { $0 + 1 } }
        try await expectKept { $0.slow >>>> Model.self }
        try await expectKept { $0.slow.model(Model.self) }
    }

    @Test("groups")
    func groups() async throws {
        try await expectKept {
            ($0.slow >><< $0.slow).mapInput { (input: Int) in (input, input + 1) }.map { [$0.0, $0.1] }
        }
        try await expectKept {
            ($0.slow >><< $0.failing).mapInput { (input: Int) in (input, input) }.map { $0.0 }
        }
        try await expectKept {
            ($0.slow >><< $0.slow).collectingResults().mapInput { (input: Int) in (input, input + 1) }.map {
                [try $0.0.get(), try $0.1.get()]
            }
        }
        try await expectKept {
            ($0.slow >><< $0.failing).collectingResults().mapInput { (input: Int) in (input, input) }.map {
                try $0.0.get()
            }
        }
        try await expectKept {
            ($0.slow >><< $0.slow).grouped().mapInput { (input: Int) in (input, input + 1) }.map { [$0.0, $0.1] }
        }
        try await expectKept { $0.slow.each(maxConcurrent: 2).mapInput { (input: Int) in [input, 7, 8] } }
    }

    @Test("those that recover, and those that can't")
    func recovering() async throws {
        try await expectKept { $0.failing.fallback(to: $0.slow) }
        try await expectKept { $0.failing.retry(1) }
        try await expectKept { [clock] in $0.failing.retry(1, delay: .constant(.seconds(1)), clock: clock) }
    }

    @Test("those with a time of their own")
    func timed() async throws {
        try await expectKept { [clock] in $0.slow.delay(.seconds(1), clock: clock) }
        try await expectKept { [clock] in $0.slow.timeout(.seconds(5), clock: clock) }
        try await expectKept { [clock] in $0.slow.timeout(.milliseconds(500), clock: clock) }
    }

    @Test("those that share, add and deliver more than once")
    func shared() async throws {
        try await expectKept { $0.slow.coalesced() }
        try await expectKept { $0.slow.attached($0.slow) }
        try await expectKept { $0.slow.attached($0.failing) }
        try await expectKept { $0.slow.merged(with: $0.slow) }
    }

    @Test("streams, and what stays one")
    func streams() async throws {
        try await expectKept { $0.stream }
        try await expectKept { $0.stream.map { $0 + 1 } }
        try await expectKept { $0.stream.mapInput { $0 + 1 } }
        try await expectKept { $0.stream.mapError { $0 } }
        try await expectKept { $0.stream.eraseToAnyDataProvider() }
        try await expectKept { $0.stream >>>> Model.self }
        try await expectKept { $0.stream.model(Model.self) }
        try await expectKept { [clock] in $0.stream.delay(.seconds(1), clock: clock) }
        try await expectKept { [clock] in $0.stream.timeout(.seconds(5), clock: clock) }
        try await expectKept { $0.stream.fallback(to: $0.stream) }
        try await expectKept { $0.stream.retry(1) }
        try await expectKept { $0.stream.attached($0.slow) }
    }

    @Test("streams that fail before a value, or after some, and what recovers from that")
    func failingStreams() async throws {
        try await expectKept { $0.failing.merged(with: $0.stream) }
        try await expectKept { $0.stream.merged(with: $0.failing) }
        try await expectKept { $0.failing.merged(with: $0.stream).fallback(to: $0.stream) }
        try await expectKept { $0.stream.merged(with: $0.failing).fallback(to: $0.stream) }
        try await expectKept { $0.failing.merged(with: $0.stream).retry(1) }
        try await expectKept { $0.stream.merged(with: $0.failing).retry(1) }
    }

    @Test("what takes the last value of a stream")
    func lastValues() async throws {
        try await expectKept { $0.stream >>>> $0.slow }
        try await expectKept { $0.stream.coalesced() }
        try await expectKept { $0.stream.each().mapInput { (input: Int) in [input, input] } }
        try await expectKept { ($0.stream >><< $0.stream).mapInput { (input: Int) in (input, input) }.map { $0.0 } }
    }

    /// Of twenty requests at once the last is to be answered within ten seconds, and each with its own input: that is
    /// more than a line of one, or calls that are joined, can do.
    @Test("integrators", arguments: [ExecutingType.default, .queue(width: 7)])
    func integrators(type: ExecutingType) async throws {
        try await expectKept { [clock] in Integrator($0.slow, executing: type, clock: clock) }
    }
}
