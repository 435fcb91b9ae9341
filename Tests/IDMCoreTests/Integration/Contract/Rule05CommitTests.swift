import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("Rule 5: a value is committed on the actor of its first handler", .inScope, .timeLimit(.ample))
struct Rule05CommitTests {
    private let log = Log()

    // MARK: Before the commit

    /// The event whose handler is on a busy actor when the call is cancelled.
    enum Pending: CaseIterable {
        case value, streamValue, error, progress, completionAlone, integratorsValue
    }

    /// The code that cancels the call.
    enum Canceller: CaseIterable {
        case task, integrator, newerCall
    }

    @Test(arguments: Pending.allCases, Canceller.allCases)
    func `a cancel before the handler's turn replaces the event`(
        pending: Pending, canceller: Canceller
    ) async throws {
        let (stage, provider) = (Stage(), ControlledStreamDataProvider<Int, Int>())
        let integrator = Integrator(provider, executing: .latest)
        let call: IntegrationCall<Int> = stage.here { stage in
            if pending == .integratorsValue { integrator.onSuccess { [log] in log.add("integrator \($0)") } }
            let call = integrator.prepareCall(1)
            return switch pending {
            case .value, .streamValue: call.onSuccess { [log] in log.add("success \($0)") }
            case .error: call.onError { [log] in log.add("error \($0)") }
            case .progress: call.onProgress { [log] in log.add("progress \($0.fraction)") }
            case .completionAlone: call.onCompletion { [log] in log.add("completion") }
            case .integratorsValue: call
            }
        }
        let task = call.onCancel { [log] in log.add("cancel \($0)") }.call()
        let request = try await provider.waitForRequest()
        switch pending {
        case .error: request.fail(Trouble.first)
        case .progress: request.reporter?.report(fraction: 0.5)
        case .streamValue: request.send(1)
        case .value, .completionAlone, .integratorsValue:
            request.send(1)
            request.finish()
        }
        try await stage.executor.waitForJobs()

        var newer: IntegrationTask<Int>?
        switch canceller {
        case .task: task.cancel()
        case .integrator: integrator.cancel()
        case .newerCall: newer = integrator.prepareCall(2).call()
        }
        stage.executor.open()
        await task.finish()
        newer?.cancel()

        let reason: CancelReason = canceller == .newerCall ? .superseded : .cancelled
        #expect(await task.outcome == .cancelled(reason))
        #expect(log.entries == ["cancel \(reason)"] + (pending == .completionAlone ? ["completion"] : []))
    }

    // MARK: After the commit

    @Test func `a cancel between two handlers of a value leaves both to run`() async throws {
        let (stage, integrator) = (Stage(), Integrator(Echo<Int>()))
        let first = integrator.prepareCall(1).onSuccess { [log] in log.add("first \($0)") }
        let task = stage.here { stage in first.onSuccess { [log] in log.add("second \($0)") } }
            .onCancel { [log] in log.add("cancel \($0)") }
            .onCompletion { [log] in log.add("completion") }
            .call()
        try await stage.executor.waitForJobs()
        #expect(await task.outcome == .success(1))

        task.cancel()
        integrator.cancel()
        stage.executor.open()
        await task.finish()

        #expect(log.entries == ["first 1", "second 1", "completion"])
    }

    @Test @MainActor func `a cancel in onSuccess of a stream is delivered before its next value`() async throws {
        let (stream, gone) = (ControlledStreamDataProvider<Int, Int>(reactsToCancel: false), Signal())
        let integrator = Integrator(stream)
        integrator.prepareCall(1).onSuccess { if $0 == 2 { integrator.cancel() } }.recorded(in: log).opening(gone)
            .call()
        let request = try await stream.waitForRequest()
        for value in 1...3 { request.send(value) }
        request.finish()
        try await gone.wait()

        #expect(log.entries == ["begin", "success 1", "success 2", "cancel cancelled", "completion"])
    }
}
