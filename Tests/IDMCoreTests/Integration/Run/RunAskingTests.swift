import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

/// Rule 8 at its edge: a cancel that comes after the call was let in, and before its provider was asked.
@Suite(.timeLimit(.ample))
@MainActor
struct RunAskingTests {
    @Test(arguments: [true, false])
    func `a call that is cancelled in the handler that made it never asks its provider`(hearsBeginning: Bool) async {
        let asked = Log()
        let log = Log()
        let inner = Integrator(
            ClosureDataProvider<Int, Int> { input in
                asked.add("\(input)")
                return input
            })
        let made = Observed<IntegrationTask<Int>?>(nil)
        let outer = Integrator(Echo<Int>()).prepareCall(1)
            .onSuccess { _ in
                var call = inner.prepareCall(2).onCancel { log.add("cancel \($0)") }
                if hearsBeginning { call = call.onBeginning { log.add("begin") } }
                let task = call.call()
                task.cancel()
                made.change { $0 = task }
            }
            .call()
        await outer.finish()
        await made.value?.finish()
        #expect(log.entries == ["cancel cancelled"])
        #expect(asked.entries == [])
    }

    @Test func `a call that is superseded by the one it displaces never asks its provider`() async throws {
        let asked = Log()
        let log = Log()
        let never = ControlledDataProvider<Int, Int>()
        let provider = ClosureDataProvider<Int, Int> { input in
            asked.add("\(input)")
            return try await never.request(input)
        }
        let integrator = Integrator(provider, executing: .latest)
        let third = Observed<IntegrationTask<Int>?>(nil)
        let first = integrator.prepareCall(1)
            .onCancel { reason in
                log.add("first: cancel \(reason)")
                third.change { $0 = integrator.prepareCall(3).onSuccess { log.add("third: success \($0)") }.call() }
            }
            .call()
        let request = try await never.waitForRequest()
        #expect(request.input == 1)
        let second = integrator.prepareCall(2).onCancel { log.add("second: cancel \($0)") }.call()
        await first.finish()
        await second.finish()
        let last = try await never.waitForRequest()
        #expect(last.input == 3)
        last.answer(30)
        await third.value?.finish()
        #expect(asked.entries == ["1", "3"])
        #expect(log.entries == ["first: cancel superseded", "second: cancel superseded", "third: success 30"])
    }

    /// The beginning is told on another actor. Until the run is back on this one, whoever runs here may cancel it.
    @Test func `a call that is cancelled on its way back from telling its beginning never asks its provider`()
        async throws
    {
        let (asked, log, isGone) = (Log(), Log(), Signal())
        try await cancelOnTheWayBack(
            ClosureDataProvider { [canary = DeinitObserver { isGone.open() }] input in
                withExtendedLifetime(canary) { asked.add("\(input)") }
                return input
            }, log)
        // Whoever could still ask it has let it go.
        try await isGone.wait()
        #expect(log.entries == ["begin", "cancel cancelled", "completion"])
        #expect(asked.entries == [])
    }

    private func cancelOnTheWayBack(_ provider: ClosureDataProvider<Int, Int>, _ log: Log) async throws {
        let stage = Stage()
        let call = stage.here { stage in
            _ = stage
            return Integrator(provider).prepareCall(1).onBeginning { log.add("begin") }
        }
        let task = call.onCancel { log.add("cancel \($0)") }.onCompletion { log.add("completion") }.call()
        try await stage.executor.waitForJobs()
        stage.executor.open()
        task.cancel()
        await task.finish()
    }
}
