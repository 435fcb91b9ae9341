import Foundation
import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite(.inScope, .timeLimit(.ample))
@MainActor
struct CallProgressTests {
    private let provider = ControlledDataProvider<Int, Int>()
    private let log = Log()

    /// A call whose progress handler is on a stage, with its request.
    private func callOnStage() async throws -> (Stage, IntegrationTask<Int>, ControlledRequest<Int, Int>) {
        let stage = Stage()
        let call = Integrator(provider).prepareCall(1)
        let task = stage.here { stage in call.onProgress { [log] in log.add("progress \($0.fraction)") } }
            .onSuccess { [log] in log.add("success \($0)") }
            .onCompletion { [log] in log.add("completion") }
            .call()
        return try await (stage, task, provider.waitForRequest())
    }

    // MARK: Handlers

    @Test func `a provider has no reporter if no handler receives progress`() async throws {
        let task = Integrator(provider).prepareCall(1).onSuccess { _ in }.call()
        let request = try await provider.waitForRequest()
        #expect(request.reporter == nil)
        request.answer(1)
        await task.finish()
    }

    @Test func `a progress handler of the integrator alone receives progress`() async throws {
        var reports: [IntegrationProgress] = []
        let integrator = Integrator(provider).onProgress { reports.append($0) }
        let task = integrator.prepareCall(1).call()
        let request = try await provider.waitForRequest()
        request.reporter?.report(completed: 3, total: 4)
        request.answer(1)
        await task.finish()

        #expect(reports == [IntegrationProgress(fraction: 0.75, completed: 3, total: 4)])
    }

    // MARK: Order

    @Test func `a fraction never decreases and stays between 0 and 1`() async throws {
        let recorder = IntegrationRecorder<Int>()
        let task = recorder.call(Integrator(provider).prepareCall(1))
        let request = try await provider.waitForRequest()
        try await recorder.waitForEvents(.began)
        for (report, delivered) in [(0.5, 0.5), (0.25, 0.5), (-3, 0.5), (.nan, 0.5), (0.75, 0.75), (7, 1), (0, 1)]
            as [(Double, Double)]
        {
            request.reporter?.report(fraction: report)
            try await recorder.waitForEvents(.progressed(delivered))
        }
        request.answer(1)
        await task.finish()
        recorder.expectRecorded(.succeeded(1), .completed)
    }

    @Test(arguments: [false, true])
    func `a busy handler receives the last report, before the value`(hasAnswered: Bool) async throws {
        let (stage, task, request) = try await callOnStage()
        request.reporter?.report(fraction: 0.125)
        try await stage.executor.waitForJobs()
        for report in [0.25, 0.375, 0.5] { request.reporter?.report(fraction: report) }
        if hasAnswered {
            request.answer(1)
            try await request.waitUntilEnded()
        }
        stage.executor.open()
        try await log.contains("progress 0.5")
        request.answer(1)
        await task.finish()

        #expect(log.entries == ["progress 0.5", "success 1", "completion"])
    }

    @Test func `a report comes before the value of a provider that never suspends`() async {
        let eager = ClosureDataProvider<Int, Int> { input in
            for unit in 1...4 { IntegrationProgress.report(completed: Int64(unit), total: 4) }
            return input
        }
        let task = Integrator(eager).prepareCall(1).recorded(in: log).call()
        let atOnce = log.entries
        await task.finish()

        #expect(log.entries == ["begin", "progress 1.0", "success 1", "completion"])
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { #expect(atOnce == log.entries) }
    }

    @Test func `a report after the commit is dropped`() async throws {
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

    @Test func `a report from any thread keeps the order`() async throws {
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
        #expect(log.entries.suffix(3) == ["progress 1.0", "success 1", "completion"])
    }

    // MARK: Streams and retries

    @Test func `a stream that takes its reporter with its values reports`() async {
        await Integrator(Reporting()).prepareCall(1).recorded(in: log).call().finish()

        #expect(log.entries == ["begin", "progress 0.5", "success 1", "completion"])
    }

    @Test func `a report between two values is delivered between them`() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let task = Integrator(stream).prepareCall(1).recorded(in: log).call()
        let request = try await stream.waitForRequest()
        for value in 1...2 {
            request.reporter?.report(fraction: Double(value) / 4)
            try await log.contains("progress \(Double(value) / 4)")
            request.send(value)
            try await log.contains("success \(value)")
        }
        request.finish()
        await task.finish()

        #expect(log.entries == ["begin", "progress 0.25", "success 1", "progress 0.5", "success 2", "completion"])
    }

    @Test func `a handler that reports again does not delay the next value`() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        var (reports, values): (Int, [Int]) = (0, [])
        var reporter: IntegrationProgress.Reporter?
        let task = Integrator(stream).prepareCall(1)
            .onSuccess { value in
                values.append(value)
                reporter?.report(fraction: 0)
            }
            .onProgress { _ in
                reports += 1
                if reports < 1_000 && values.count < 2 { reporter?.report(fraction: 0) }
            }
            .call()
        let request = try await stream.waitForRequest()
        reporter = request.reporter
        for value in 1...2 { request.send(value) }
        request.finish()
        await task.finish()

        #expect(values == [1, 2])
        #expect((1..<1_000).contains(reports))
    }

    @Test func `a second attempt continues at the fraction of the first`() async throws {
        let task = Integrator(provider).prepareCall(1).retry(1).recorded(in: log).call()
        let first = try await provider.waitForRequest()
        first.reporter?.report(fraction: 0.5)
        first.fail(Trouble.first)
        let second = try await provider.waitForRequest()
        second.reporter?.report(fraction: 0.25)
        second.answer(1)
        await task.finish()

        #expect(
            log.entries == ["begin", "progress 0.5", "retry 1 after first", "progress 0.5", "success 1", "completion"])
    }

    // MARK: Nested calls

    @Test func `progress of an inner integrator reaches the handlers of both`() async throws {
        let inner = Integrator(provider)
        inner.onProgress { [log] in log.add("inner \($0.fraction)") }
        let task = Integrator(inner).prepareCall(1).onProgress { [log] in log.add("outer \($0.fraction)") }.call()
        let request = try await provider.waitForRequest()
        request.reporter?.report(fraction: 0.5)
        request.answer(1)
        await task.finish()

        #expect(log.entries.sorted() == ["inner 0.5", "outer 0.5"])
    }

    @Test func `progress of a call made in a progress handler stays with that call`() async throws {
        let other = ControlledDataProvider<Int, Int>()
        let inner = Integrator(other)
        var made: IntegrationTask<Int>?
        let task = Integrator(provider).prepareCall(1)
            .onProgress { _ in made = made ?? inner.prepareCall(2).call() }
            .recorded(in: log).call()
        let request = try await provider.waitForRequest()
        request.reporter?.report(fraction: 0.5)
        let innerRequest = try await other.waitForRequest()
        #expect(innerRequest.reporter == nil)
        innerRequest.answer(2)
        request.answer(1)
        await task.finish()
        await made?.finish()

        #expect(log.entries == ["begin", "progress 0.5", "success 1", "completion"])
    }
}
