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

    // MARK: Order

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

    // The pump starts on another thread before the answer.
    @Test func `a second thread that delivers progress does not delay the answer`() async {
        let jobs = HeldJobs()
        let provider = ClosureDataProvider<Int, Int> { input in
            IntegrationProgress.report(completed: 1, total: 2)
            jobs.run()
            return input
        }
        let task = LibraryTask.$executor.withValue(jobs) {
            Integrator(provider).prepareCall(3).recorded(in: log).call()
        }
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            #expect(log.entries.first == "begin" && log.entries.suffix(2) == ["success 3", "completion"])
        }
        let running = Task {
            while true {
                try await jobs.areWaiting(1)
                jobs.run()
            }
        }
        await task.finish()
        running.cancel()

        #expect(log.entries.count == 4)
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
