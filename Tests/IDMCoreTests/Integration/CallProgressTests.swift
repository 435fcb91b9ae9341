import Foundation
import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("The progress of a call", .inScope, .timeLimit(.ample))
@MainActor
struct CallProgressTests {
    private let provider = ControlledDataProvider<Int, Int>()
    private let log = Log()
    private let recorder = IntegrationRecorder<Int>()

    /// A call whose progress is heard on a stage, and the request it makes.
    private func heardOnAStage() async throws -> (Stage, IntegrationTask<Int>, ControlledRequest<Int, Int>) {
        let stage = Stage()
        let call = Integrator(provider).prepareCall(1)
        let task = stage.here { stage in call.onProgress { [log] in log.add("progress \($0.fraction)") } }
            .onSuccess { [log] in log.add("success \($0)") }
            .onCompletion { [log] in log.add("completion") }
            .call()
        return try await (stage, task, provider.waitForRequest())
    }

    @Test("is not looked for where nobody listens")
    func nobodyListens() async throws {
        let task = Integrator(provider).prepareCall(1).onSuccess { _ in }.call()
        let request = try await provider.waitForRequest()
        #expect(request.reporter == nil)
        request.answer(1)
        await task.finish()
    }

    @Test("is heard by the integrator's handlers alone, if the call has none")
    func integratorListens() async throws {
        let integrator = Integrator(provider).onProgress { [log] in log.add("\($0.fraction)") }
        let task = integrator.prepareCall(1).call()
        let request = try await provider.waitForRequest()
        request.reporter?.report(fraction: 0.5)
        request.answer(1)
        await task.finish()
        #expect(log.entries == ["0.5"])
    }

    @Test("tells the units, and the fraction that follows from them")
    func units() async throws {
        var heard: [IntegrationProgress] = []
        let task = Integrator(provider).prepareCall(1).onProgress { heard.append($0) }.call()
        let request = try await provider.waitForRequest()
        request.reporter?.report(completed: 3, total: 4)
        request.answer(1)
        await task.finish()
        #expect(heard == [IntegrationProgress(fraction: 0.75, completed: 3, total: 4)])
    }

    @Test("never goes backwards, and never leaves 0 to 1")
    func monotone() async throws {
        let task = recorder.call(Integrator(provider).prepareCall(1))
        let request = try await provider.waitForRequest()
        try await recorder.waitForEvents(.began)
        for (report, heard) in [(0.5, 0.5), (0.25, 0.5), (-3, 0.5), (.nan, 0.5), (0.75, 0.75), (7, 1), (0, 1)]
            as [(Double, Double)]
        {
            request.reporter?.report(fraction: report)
            try await recorder.waitForEvents(.progressed(heard))
        }
        request.answer(1)
        await task.finish()
        recorder.expectRecorded(.succeeded(1), .completed)
    }

    @Test("is coalesced while a handler is busy: what it hears next is the last report")
    func coalesced() async throws {
        let (stage, task, request) = try await heardOnAStage()
        request.reporter?.report(fraction: 0.125)
        try await stage.executor.waitForJobs()
        for report in [0.25, 0.375, 0.5] { request.reporter?.report(fraction: report) }
        stage.executor.open()
        try await log.contains("progress 0.5")
        request.answer(1)
        await task.finish()
        #expect(log.entries == ["progress 0.5", "success 1", "completion"])
    }

    @Test("is heard before the value that it came before, however busy the handlers are")
    func lastBeforeTheValue() async throws {
        let (stage, task, request) = try await heardOnAStage()
        request.reporter?.report(fraction: 0.25)
        try await stage.executor.waitForJobs()
        request.reporter?.report(fraction: 1)
        request.answer(1)
        try await request.waitUntilEnded()
        stage.executor.open()
        await task.finish()
        #expect(log.entries == ["progress 1.0", "success 1", "completion"])
    }

    @Test("is heard before the value though the provider never suspends")
    func synchronous() async {
        let eager = ClosureDataProvider<Int, Int> { input in
            for unit in 1...4 { IntegrationProgress.report(completed: Int64(unit), total: 4) }
            return input
        }
        await Integrator(eager).prepareCall(1).recorded(in: log).call().finish()
        #expect(log.entries.first == "begin")
        #expect(log.entries.suffix(3) == ["progress 1.0", "success 1", "completion"])
    }

    @Test("is dropped after the commit")
    func afterTheCommit() async throws {
        let (stage, clock) = (Stage(), ManualClock())
        let call = Integrator(provider, clock: clock).prepareCall(1)
            .onProgress { [log] in log.add("progress \($0.fraction)") }
            .onSuccess { [log] in log.add("success \($0)") }
        let task = stage.here { stage in call.onCompletion { [log] in log.add("completion") } }.call()
        let request = try await provider.waitForRequest()
        request.answer(1)
        try await stage.executor.waitForJobs()
        request.reporter?.report(fraction: 0.5)
        stage.executor.open()
        await task.finish()
        request.reporter?.report(fraction: 1)
        await clock.rest()
        #expect(log.entries == ["success 1", "completion"])
    }

    @Test("is heard from a stream that takes its reporter as its values are asked for")
    func takenWithValues() async {
        await recorder.call(Integrator(Reporting()).prepareCall(1)).finish()
        recorder.expectRecorded(.began, .progressed(0.5), .succeeded(1), .completed)
    }

    @Test("between two values of a stream is heard between them")
    func stream() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let task = recorder.call(Integrator(stream).prepareCall(1))
        let request = try await stream.waitForRequest()
        request.reporter?.report(fraction: 0.25)
        try await recorder.waitForEvents(.began, .progressed(0.25))
        request.send(1)
        try await recorder.waitForEvents(.succeeded(1))
        request.reporter?.report(fraction: 0.5)
        try await recorder.waitForEvents(.progressed(0.5))
        request.send(2)
        request.finish()
        await task.finish()
        recorder.expectRecorded(.succeeded(2), .completed)
    }

    @Test("may be reported from any thread")
    func threads() async throws {
        let task = Integrator(provider).prepareCall(1).recorded(in: log).call()
        let request = try await provider.waitForRequest()
        let done = Observed(0)
        for thread in 1...8 {
            Thread.detachNewThread {
                for report in 0..<50 { request.reporter?.report(fraction: Double(report * thread) / 400) }
                done.change { $0 += 1 }
            }
        }
        try await done.wait { $0 == 8 }
        request.reporter?.report(fraction: 1)
        request.answer(1)
        await task.finish()
        let fractions = log.entries.compactMap { line in
            line.hasPrefix("progress ") ? Double(line.dropFirst("progress ".count)) : nil
        }
        #expect(fractions == fractions.sorted())
        #expect(fractions.last == 1)
        #expect(log.entries.suffix(2) == ["success 1", "completion"])
    }

    @Test("of an integrator that is a provider reaches the call above it")
    func nested() async throws {
        let task = recorder.call(Integrator(Integrator(provider)).prepareCall(1))
        let request = try await provider.waitForRequest()
        request.reporter?.report(fraction: 0.5)
        request.answer(1)
        await task.finish()
        recorder.expectRecorded(.began, .progressed(0.5), .succeeded(1), .completed)
    }

    @Test("of a call made in a progress handler is not the progress of the call that the handler is for")
    func madeInAHandler() async throws {
        let other = ControlledDataProvider<Int, Int>()
        let inner = Integrator(other)
        var made: IntegrationTask<Int>?
        let task = recorder.call(
            Integrator(provider).prepareCall(1).onProgress { _ in made = made ?? inner.prepareCall(2).call() })
        let request = try await provider.waitForRequest()
        request.reporter?.report(fraction: 0.5)
        let innerRequest = try await other.waitForRequest()
        #expect(innerRequest.reporter == nil)
        innerRequest.reporter?.report(fraction: 0.75)
        innerRequest.answer(2)
        request.answer(1)
        await task.finish()
        recorder.expectRecorded(.began, .progressed(0.5), .succeeded(1), .completed)
        await made?.finish()
    }

    @Test("that comes as often as it is heard doesn't keep a stream from its next value")
    func busyReporter() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        var (heard, values): (Int, [Int]) = (0, [])
        var reporter: IntegrationProgress.Reporter?
        let task = Integrator(stream).prepareCall(1)
            .onSuccess { value in
                values.append(value)
                reporter?.report(fraction: 0)
            }
            .onProgress { _ in
                heard += 1
                if heard < 1_000 && values.count < 2 { reporter?.report(fraction: 0) }
            }
            .call()
        let request = try await stream.waitForRequest()
        reporter = request.reporter
        #expect(reporter != nil)
        request.send(1)
        request.send(2)
        request.finish()
        await task.finish()
        #expect(values == [1, 2])
        #expect((1..<1_000).contains(heard))
    }

    @Test("of two attempts goes on where the first has left it")
    func retry() async throws {
        let task = recorder.call(Integrator(provider).prepareCall(1).retry(1))
        let first = try await provider.waitForRequest()
        first.reporter?.report(fraction: 0.5)
        first.fail(Trouble.first)
        let second = try await provider.waitForRequest()
        second.reporter?.report(fraction: 0.25)
        second.answer(1)
        await task.finish()
        recorder.expectRecorded(
            .began, .progressed(0.5), .retried(1, after: Trouble.first), .progressed(0.5), .succeeded(1), .completed)
    }
}
