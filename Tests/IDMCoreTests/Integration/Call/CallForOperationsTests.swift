import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

/// The package-level parts of a call, which operations use.
@Suite(.timeLimit(.ample))
struct CallForOperationsTests {
    private let provider = ControlledDataProvider<Int, Int>()
    private let log = Log()
    private let made = Observed<IntegrationTask<any Sendable>?>(nil)

    /// Starts a call, and keeps its task before the first event.
    private func start(_ call: IntegrationCall<Int>) -> IntegrationTask<any Sendable> {
        call.erased.call(isolation: nil) { task in made.change { $0 = task } }
    }

    @Test(arguments: [ExecutingType.default, .only, .queue, .latest])
    func `a rejected call delivers its reason alone and takes no place`(type: ExecutingType) async throws {
        let users = Integrator(provider, executing: type)
        let running = users.prepareCall(1).call()
        let request = try await provider.waitForRequest()

        let outcome = await users.prepareCall(2).recorded(in: log).reject(.cancelled).outcome
        request.answer(3)

        #expect(outcome == .cancelled(.cancelled))
        #expect(log.entries == ["cancel cancelled"])
        #expect(try await running.value == 3)
    }

    @Test func `the task of a call exists before its first handler runs`() async {
        let task = start(Integrator(provider).prepareCall(1).onBeginning { made.value?.cancel() }.recorded(in: log))
        await task.finish()

        #expect(log.entries == ["begin", "cancel cancelled", "completion"])
        #expect(provider.requestCount == 0)
    }

    @Test func `whenFinished calls back before chained calls have run and finish returns after`() async throws {
        let next = Integrator(provider).prepareCall(2)
        let task = start(Integrator(Echo<Int>()).prepareCall(1).nextSuccess(next).recorded(in: log))
        task.whenFinished { log.add("finished") }
        let request = try await provider.waitForRequest()
        task.whenAllFinished { log.add("all finished") }
        try await log.contains("finished")

        #expect(task.unchainedOutcome == nil)
        async let end: Void = task.finish()
        request.answer(2)
        await end
        try await log.contains("all finished")

        #expect(log.entries == ["begin", "success 1", "completion", "finished", "all finished"])
    }

    @Test func `a call with a replaced source keeps its handlers and releases the source`() async throws {
        final class Kept: Sendable {}
        weak let kept: Kept?
        var call: IntegrationCall<any Sendable>
        do {
            let first = Kept()
            kept = first
            let replaced = provider.mapInput { (_: Void) in withExtendedLifetime(first) { 1 } }
            call = Integrator(replaced).prepareCall().erased.onErasedSuccess { (value: Int) in log.add("\(value)") }
            call = call.withSource(of: Integrator(provider).prepareCall(2).erased)
        }
        #expect(kept == nil)

        let task = call.call(isolation: nil)
        let request = try await provider.waitForRequest()
        request.answer(3)
        await task.finish()

        #expect(request.input == 2)
        #expect(log.entries == ["3"])
    }
}
