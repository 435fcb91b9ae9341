import IDMCore
import IDMTesting
import TestSupport
import Testing

/// What is made of providers that keep the contract keeps it as well. The time is the clock's: what doesn't come when
/// everything is at rest doesn't come.
@Suite("The contract of providers, kept by", .inScope, .timeLimit(.ample))
struct CompositionContractTests {
    private let clock = ManualClock()

    /// Answers after a second, so that a cancel comes while it is at work.
    private var slow: ClosureDataProvider<Int, Int> {
        ClosureDataProvider { [clock] input in
            try await clock.sleep(for: .seconds(1))
            return input
        }
    }

    private var slowToFail: ClosureDataProvider<Int, Int> {
        ClosureDataProvider { [clock] input in
            try await clock.sleep(for: .seconds(1))
            throw Trouble.numbered(input)
        }
    }

    private struct Model: DataModel, Equatable {
        let number: Int
        init(from source: Int) { number = source }
    }

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
        try await check.value
    }

    @Test("transformed ones")
    func transformed() async throws {
        let slow = slow
        try await expectKept { slow }
        try await expectKept { slow.map { $0 + 1 } }
        try await expectKept { slow.mapInput { $0 + 1 } }
        try await expectKept { slow.mapError { $0 } }
        try await expectKept { slow.eraseToAnyDataProvider() }
    }

    @Test("sequences and models")
    func sequences() async throws {
        let slow = slow
        try await expectKept { slow >>>> slow }
        try await expectKept { slow >>>> { $0 + 1 } }
        try await expectKept { slow >>>> Model.self }
        try await expectKept { slow.model(Model.self) }
    }

    @Test("groups")
    func groups() async throws {
        let (slow, failing) = (slow, slowToFail)
        try await expectKept { (slow >><< slow).mapInput { (input: Int) in (input, input + 1) }.map { [$0.0, $0.1] } }
        try await expectKept { (slow >><< failing).mapInput { (input: Int) in (input, input) }.map { $0.0 } }
        try await expectKept {
            (slow >><< slow).collectingResults().mapInput { (input: Int) in (input, input + 1) }
                .map { [try $0.0.get(), try $0.1.get()] }
        }
        try await expectKept {
            (slow >><< slow).grouped().mapInput { (input: Int) in (input, input + 1) }.map { [$0.0, $0.1] }
        }
        try await expectKept { slow.each(maxConcurrent: 2).mapInput { (input: Int) in [input, 7, 8] } }
    }

    @Test("those that recover, and those that can't")
    func recovering() async throws {
        let (slow, failing) = (slow, slowToFail)
        try await expectKept { failing.fallback(to: slow) }
        try await expectKept { failing.retry(1) }
        try await expectKept { [clock] in failing.retry(1, delay: .constant(.seconds(1)), clock: clock) }
    }

    @Test("those with a time of their own")
    func timed() async throws {
        let slow = slow
        try await expectKept { [clock] in slow.delay(.seconds(1), clock: clock) }
        try await expectKept { [clock] in slow.timeout(.seconds(5), clock: clock) }
        try await expectKept { [clock] in slow.timeout(.milliseconds(500), clock: clock) }
    }

    @Test("those that share, add and deliver more than once")
    func shared() async throws {
        let slow = slow
        try await expectKept { slow.coalesced() }
        try await expectKept { slow.attached(slow) }
        try await expectKept { slow.merged(with: slow) }
    }

    @Test("what is made of streams")
    func streams() async throws {
        let (slow, failing) = (slow, slowToFail)
        let stream = slow.merged(with: slow)
        try await expectKept { stream.map { $0 + 1 } }
        try await expectKept { stream.mapInput { $0 + 1 } }
        try await expectKept { stream.eraseToAnyDataProvider() }
        try await expectKept { stream >>>> Model.self }
        try await expectKept { stream >>>> slow }
        try await expectKept { failing.merged(with: stream).fallback(to: stream) }
        try await expectKept { failing.merged(with: stream).retry(1) }
        try await expectKept { [clock] in stream.timeout(.seconds(5), clock: clock) }
        try await expectKept { stream.attached(slow) }
    }

    /// Of twenty requests at once the last is to be answered within ten seconds, and each with its own input: that is
    /// more than a line of one, or calls that are joined, can do.
    @Test("integrators", arguments: [ExecutingType.default, .queue(width: 7)])
    func integrators(type: ExecutingType) async throws {
        let slow = slow
        try await expectKept { [clock] in Integrator(slow, executing: type, clock: clock) }
    }
}
