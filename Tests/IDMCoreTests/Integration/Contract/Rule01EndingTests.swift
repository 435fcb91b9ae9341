import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("Rule 1: every call ends exactly once, whatever the provider does", .inScope, .timeLimit(.ample))
struct Rule01EndingTests {
    @Test("A call ends once, and an awaiting caller is told the same end", arguments: WayToEnd.allCases)
    func endsOnce(way: WayToEnd) async throws {
        let log = Log()
        let gone = Signal()
        let task = try await way.run { $0.recorded(in: log).opening(gone) }
        try await gone.wait()
        // None of these providers tells of progress.
        #expect(!log.entries.contains { $0.hasPrefix("progress") })
        let ends = log.entries.filter { $0.hasPrefix("error") || $0.hasPrefix("cancel") }
        switch way.outcome {
        case "success": #expect(ends == [] && log.entries.contains("success 1"))
        case "failure": #expect(ends.count == 1 && ends[0].hasPrefix("error"))
        case let reason: #expect(ends == ["cancel \(reason)"])
        }
        guard let outcome = await task?.outcome else { return }
        switch outcome {
        case .success: #expect(way.outcome == "success")
        case .failure: #expect(way.outcome == "failure")
        case .cancelled(let reason): #expect(way.outcome == "\(reason)")
        }
    }

    @Test("A call ends though nobody hears of it", arguments: WayToEnd.allCases)
    func endsUnheard(way: WayToEnd) async throws {
        let task = try await way.run { $0 }
        await task?.finish()
    }

    @Test("A provider that answers twice ends the call once")
    func answersTwice() async throws {
        let (callbacks, gone) = (ControlledCallbackDataProvider<Int, Int>(), Signal())
        let recorder = IntegrationRecorder<Int>()
        let task = recorder.call(Integrator(callbacks).prepareCall(1).opening(gone))
        let request = try await callbacks.waitForRequest()
        request.answer(1)
        request.fail(Trouble.first)
        request.answer(2)
        await task.finish()
        try await gone.wait()
        recorder.expectRecorded(.began, .succeeded(1), .completed)
    }

    @Test("A provider that answers after the cancel ends the call once, with the cancel")
    func answersAfterCancel() async throws {
        let (provider, gone) = (ControlledDataProvider<Int, Int>(reactsToCancel: false), Signal())
        let recorder = IntegrationRecorder<Int>()
        let task = recorder.call(Integrator(provider).prepareCall(1).opening(gone))
        let request = try await provider.waitForRequest()
        task.cancel()
        await task.finish()
        request.answer(1)
        try await gone.wait()
        recorder.expectRecorded(.began, .cancelled(.cancelled), .completed)
    }

    @Test("A provider that reports progress after its answer changes nothing")
    func progressAfterSuccess() async throws {
        let (recorder, gone) = (IntegrationRecorder<Int>(), Signal())
        let reporter = Observed<IntegrationProgress.Reporter?>(nil)
        let provider = ClosureDataProvider<Int, Int> { input in
            let current = IntegrationProgress.current
            reporter.change { $0 = current }
            return input
        }
        let task = recorder.call(Integrator(provider).prepareCall(1).opening(gone))
        await task.finish()
        reporter.value?.report(fraction: 0.5)
        try await gone.wait()
        reporter.value?.report(fraction: 1)
        #expect(reporter.value != nil)
        recorder.expectRecorded(.began, .succeeded(1), .completed)
    }

    @Test("A provider that calls its own integrator is heard as the executing type has it")
    func reentersItself() async throws {
        #expect(await outcomeOfReentrance(.default) == ["begin", "success 0", "completion"])
        #expect(await outcomeOfReentrance(.only) == ["begin", "cancel ignored", "completion"])
        #expect(await outcomeOfReentrance(.queue(width: 2)) == ["begin", "success 0", "completion"])
        #expect(await outcomeOfReentrance(.latest) == ["begin", "cancel superseded", "completion"])
    }

    private func outcomeOfReentrance(_ type: ExecutingType) async -> [String] {
        let (log, gone) = (Log(), Signal())
        let itself = Observed<Integrator<Int, Int>?>(nil)
        let provider = ClosureDataProvider<Int, Int> { input in
            guard input > 0, let integrator = itself.value else { return input }
            return try await integrator.request(input - 1)
        }
        let integrator = Integrator(provider, executing: type)
        itself.change { $0 = integrator }
        await integrator.prepareCall(1).recorded(in: log).opening(gone).call().finish()
        try? await gone.wait()
        itself.change { $0 = nil }
        return log.entries
    }

    @Test("A provider that awaits its own queue waits until it is cancelled, and both calls end")
    func awaitsItsOwnQueue() async throws {
        let log = Log()
        let isInside = Signal()
        let itself = Observed<Integrator<Int, Int>?>(nil)
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
        #expect(log.entries(of: "outer") == ["begin", "cancel cancelled", "completion"])
        #expect(log.entries(of: "inner") == ["cancel cancelled"])
        itself.change { $0 = nil }
    }

    @Test("None of a hundred calls at once vanishes", arguments: ExecutingType.several)
    func noneVanishes(type: ExecutingType) async {
        let integrator = Integrator(ControlledDataProvider<Int, Int>(), executing: type)
        let log = Log()
        let tasks = (0..<100).map { integrator.prepareCall($0).recorded(in: log, as: "\($0)").call() }
        integrator.cancel()
        for (index, task) in tasks.enumerated() {
            await task.finish()
            let ends = log.entries(of: "\(index)").filter { $0.hasPrefix("cancel") }
            #expect(ends.count == 1)
        }
    }
}
