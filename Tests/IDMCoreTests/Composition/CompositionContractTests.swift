import IDMCore
import IDMTesting
import TestSupport
import Testing

/// Compositions of providers that keep the contract keep it too, and release their parts.
@Suite(.inScope, .timeLimit(.ample))
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

    /// The parts of a composition, tracked as leaks.
    private struct Parts: Sendable {
        let slow: Slow
        let failing: Slow
        let stream: SlowStream
    }

    /// Makes requests with two inputs, so that an answer to the wrong request is found.
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
        try await check.valueReactingToCancel
    }

    @Test func `a provider that ignores cancels breaks the contract, at the line of its check`() async throws {
        let (line, found) = (#line + 2, Log())
        try await withKnownIssue {
            try await expectKept { _ in ControlledDataProvider<Int, Int>(reactsToCancel: false) }
        } matching: { issue in
            found.add("\(issue.sourceLocation?.line ?? 0)")
            return true
        }
        #expect(found.entries == ["\(line)"])
    }

    private typealias Make = @Sendable (Parts, ManualClock) -> any DataProvider<Int, Int>

    private static let compositions: [(name: String, make: Make)] = [
        ("alone", { parts, _ in parts.slow }), ("map", { parts, _ in parts.slow.map { $0 + 1 } }),
        ("mapInput", { parts, _ in parts.slow.mapInput { $0 + 1 } }),
        ("mapError", { parts, _ in parts.failing.mapError { _ in Trouble.first } }),
        ("erased", { parts, _ in parts.slow.eraseToAnyDataProvider() }),
        ("sequence", { parts, _ in parts.slow >>>> parts.slow }),
        ("failing sequence", { parts, _ in parts.slow >>>> parts.failing }),
        ("closure", { parts, _ in parts.slow >>>> { $0 + 1 } }),
        ("model", { parts, _ in parts.slow.model(Model.self).map(\.number) }),
        (
            "group",
            { parts, _ in
                (parts.slow >><< parts.slow).mapInput { (input: Int) in (input, input + 1) }.map { $0.0 * 100 + $0.1 }
            }
        ),
        (
            "failing group",
            { parts, _ in (parts.slow >><< parts.failing).mapInput { (input: Int) in (input, input) }.map { $0.0 } }
        ),
        (
            "collecting group",
            { parts, _ in
                (parts.slow >><< parts.slow).collectingResults().mapInput { (input: Int) in (input, input + 1) }
                    .map { try $0.0.get() * 100 + $0.1.get() }
            }
        ),
        (
            "collecting group with a failure",
            { parts, _ in
                (parts.slow >><< parts.failing).collectingResults().mapInput { (input: Int) in (input, input) }
                    .map { try $0.0.get() }
            }
        ),
        ("each", { parts, _ in parts.slow.each(limit: 2).mapInput { (input: Int) in [input, 7, 8] }.map { $0[0] } }),
        ("fallback", { parts, _ in parts.failing.fallback(to: parts.slow) }),
        ("race", { parts, _ in parts.failing.race(with: parts.slow) }),
        ("retry", { $0.failing.retry(1, delay: .constant(.seconds(1)), clock: $1) }),
        ("delay", { $0.slow.delay(.seconds(1), clock: $1) }), ("in time", { $0.slow.timeout(.seconds(5), clock: $1) }),
        ("too late", { $0.slow.timeout(.milliseconds(500), clock: $1) }),
        ("coalesced", { parts, _ in parts.slow.coalesced() }),
        ("attached", { parts, _ in parts.slow.attached(parts.failing) }),
        ("merged", { parts, _ in parts.slow.merged(with: parts.slow) }),
        ("stream", { parts, _ in parts.stream }),
        ("stream in transforms", { parts, _ in parts.stream.map { $0 + 1 }.mapInput { $0 }.mapError { $0 } }),
        ("stream of models", { parts, _ in parts.stream.model(Model.self).map(\.number) }),
        ("stream with times", { $0.stream.delay(.seconds(1), clock: $1).timeout(.seconds(5), clock: $1) }),
        ("stream that recovers", { parts, _ in parts.stream.fallback(to: parts.stream).retry(1) }),
        ("stream with a side", { parts, _ in parts.stream.attached(parts.slow) }),
        ("late failure", { parts, _ in parts.stream.merged(with: parts.failing).fallback(to: parts.stream) }),
        ("early failure", { parts, _ in parts.failing.merged(with: parts.stream).retry(1) }),
        ("coalesced stream", { parts, _ in parts.stream.coalesced() }),
        (
            "group of streams",
            { parts, _ in (parts.stream >><< parts.stream).mapInput { (input: Int) in (input, input) }.map { $0.0 } }
        ),
        ("integrator", { Integrator($0.slow, clock: $1) }),
        // Of twenty requests at once the last must be answered within ten seconds: more than a queue of one can do.
        ("queue", { Integrator($0.slow, executing: .queue(width: 7), clock: $1) }),
    ]

    @Test(arguments: compositions.indices)
    func `a composition keeps the contract of providers`(index: Int) async throws {
        let make = Self.compositions[index].make

        try await expectKept { [clock] parts in AnyDataProvider(make(parts, clock)) }
    }
}
