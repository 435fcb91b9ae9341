import IDMCore
import IDMTesting
import TestSupport
import Testing

/// True where a task can start in the turn of its caller: on Linux, and on Apple systems from 26 on. Elsewhere the tests
/// check the order alone.
private let startsAtOnce: Bool =
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { true } else { false }

@Suite("Rule 6: an answer without a suspension is delivered when call() returns", .inScope, .timeLimit(.ample))
@MainActor
struct Rule06SynchronyTests {
    private let log = Log()

    /// The events when `call()` has returned and the events after the end. Equal if the call was delivered at once.
    private func events(
        of call: IntegrationCall<Int>, isolation: isolated (any Actor)? = #isolation
    ) async -> (atOnce: [String], all: [String]) {
        let log = Log()
        let task = call.recorded(in: log, isolation: isolation).call(isolation: isolation)
        let atOnce = log.entries
        await task.finish()
        return (startsAtOnce ? atOnce : log.entries, log.entries)
    }

    private struct Stored: StreamDataProvider {
        func values(for count: Int) -> ProviderValues<Int> { ProviderValues(of: Echo<Int>(), for: count) }
    }

    struct Query: Sendable { let words: [String] }

    private nonisolated static let calls: [(call: IntegrationCall<Int>, end: String)] =
        ExecutingType.several.map { (Integrator(Echo<Int>(), executing: $0).prepareCall(1), "success 1") } + [
            (Integrator(Echo<Int>(), executing: .only, lane: { $0 }).prepareCall(1), "success 1"),
            (Integrator(ValueDataProvider<Void, Int>(1)).prepareCall(), "success 1"),
            (Integrator(ValueDataProvider<Query, Int>(1)).prepareCall(Query(words: ["apple"])), "success 1"),
            (Integrator(Stored()).prepareCall(1), "success 1"),
            (Integrator(Immediate(answers: [1])).prepareCall(1), "success 1"),
            (Integrator(Failing(Trouble.first)).prepareCall(1), "error first"),
            (Integrator(Failing(CancellationError())).prepareCall(1), "cancel cancelled"),
        ]

    @Test(arguments: calls.indices)
    func `a call on the main actor is delivered at once`(index: Int) async {
        let (call, end) = Self.calls[index]
        let (atOnce, all) = await events(of: call)

        #expect(atOnce == ["begin", end, "completion"])
        #expect(all == atOnce)
    }

    @Test func `a rejected call delivers its reason at once`() async {
        let integrator = Integrator(ControlledDataProvider<Int, Int>(), executing: .only)
        let first = integrator.prepareCall(1).call()
        let (atOnce, all) = await events(of: integrator.prepareCall(2))
        first.cancel()
        await first.finish()

        #expect(atOnce == ["cancel ignored"])
        #expect(all == atOnce)
    }

    @Test func `a cancel while the provider runs is delivered when it returns`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let task = Integrator(provider).prepareCall(1).recorded(in: log).call()
        _ = try await provider.waitForRequest()

        task.cancel()
        if !startsAtOnce { await task.finish() }

        #expect(log.entries == ["begin", "cancel cancelled", "completion"])
        await task.finish()
    }

    // MARK: Exceptions

    @Test func `a handler on no actor delays the handlers after it`() async {
        let isInside = Observed(true)
        let call = addingElsewhere(Integrator(Echo<Int>()).prepareCall(1).recorded(in: log), log)
        let task = call.onCompletion { [log] in log.add(isInside.value ? "in call()" : "later") }.call()
        isInside.change { $0 = false }
        await task.finish()

        #expect(log.entries == ["begin", "success 1", "no actor 1", "completion", "later"])
    }

    private nonisolated func addingElsewhere(_ call: IntegrationCall<Int>, _ log: Log) -> IntegrationCall<Int> {
        call.onSuccess { log.add("no actor \($0)") }
    }

    @Test func `a call made in a task that a handler started is delivered at once`() async {
        let integrator = Integrator(Echo<Int>())
        var started: Task<[String], Never>?
        let task = integrator.prepareCall(0)
            .onSuccess { _ in
                started = Task {
                    integrator.prepareCall(1).recorded(in: log).call()
                    return log.entries
                }
            }
            .call()
        await task.finish()
        let entries = await started?.value

        if startsAtOnce { #expect(entries == ["begin", "success 1", "completion"]) }
    }

    // MARK: Calls between the handlers of another task

    /// Runs its jobs on the concurrent pool.
    final class Pool: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) { globalConcurrentExecutor.enqueue(job) }
    }

    @Test(arguments: [nil, Pool()])
    nonisolated func `handlers of another task delay no call on their actor`(executor: Pool?) async throws {
        guard startsAtOnce else { return }
        let (stage, provider, delayed) = (Stage(), ControlledDataProvider<Int, Int>(), Log())
        let call = stage.record(Integrator(provider).prepareCall(1), in: log)
        let other = Integrator(Echo<Int>())
        let turns = Task {
            while true {
                try await stage.executor.waitForJobs()
                // Behind the job that waits, and before the next one of the same task.
                stage.here { stage in
                    _ = Task {
                        let events = Log()
                        stage.record(other.prepareCall(2), in: events).call(isolation: stage)
                        if events.entries.count != 3 { delayed.add("after \(log.entries)") }
                    }
                }
                stage.executor.runNext()
                stage.executor.runNext()
            }
        }

        LibraryTask.beginTracking()
        // The task that delivers the cancellation starts on no actor, and comes to the handlers from there.
        let task = LibraryTask.$executor.withValue(executor ?? LibraryTask.executor) { call.call() }
        _ = try await provider.waitForRequest()
        task.cancel()
        await task.finish()
        turns.cancel()
        _ = await turns.result

        #expect(delayed.entries == [])
        #expect(log.entries == ["begin", "cancel cancelled", "completion"])
    }
}
