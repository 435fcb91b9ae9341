import IDMCore
import IDMTesting
import TestSupport

/// The ways in which a call can end.
enum WayToEnd: CaseIterable {
    case success, failure, cancelFromBelow, noAnswer
    case taskCancelled, integratorCancelled, cancelledThoughDeaf, superseded, released
    case streamEnds, streamFails, streamWithoutValue, streamCancelled
    case ignored, pastTheLimit, cancelledInLine, supersededInDebounce, releasedInLine

    /// False if the call ends without a begin event.
    var isStarted: Bool {
        switch self {
        case .ignored, .pastTheLimit, .cancelledInLine, .supersededInDebounce, .releasedInLine: false
        default: true
        }
    }

    /// The end of the call, as recorded by `recorded(in:)`.
    var end: String {
        switch self {
        case .success, .streamEnds: "success 1"
        case .failure, .streamFails: "error first"
        case .noAnswer, .streamWithoutValue: "error \(DataProviderError.noAnswer)"
        case .cancelFromBelow, .taskCancelled, .integratorCancelled, .cancelledThoughDeaf, .streamCancelled,
            .cancelledInLine:
            "cancel cancelled"
        case .superseded, .supersededInDebounce: "cancel superseded"
        case .released, .releasedInLine: "cancel released"
        case .ignored, .pastTheLimit: "cancel ignored"
        }
    }

    /// All events of the call, as recorded by `recorded(in:)`.
    var events: [String] {
        let hasValue = self == .streamFails || self == .streamCancelled
        return isStarted ? ["begin"] + (hasValue ? ["success 1"] : []) + [end, "completion"] : [end]
    }

    /// Makes a call that ends in this way.
    ///
    /// - Returns: The task of the call, after its last handler has run. Nil for a call of a released integrator.
    @discardableResult
    func run(
        isolation: isolated (any Actor)? = #isolation,
        _ prepare: (IntegrationCall<Int>) -> IntegrationCall<Int>
    ) async throws -> IntegrationTask<Int>? {
        switch self {
        case .success: await finish(Echo(), prepare)
        case .failure: await finish(Failing(Trouble.first), prepare)
        case .cancelFromBelow: await finish(Failing(CancellationError()), prepare)
        case .noAnswer: try await dropped(prepare)
        case .taskCancelled: try await cancelled(deaf: false, prepare) { task, _ in task.cancel() }
        case .cancelledThoughDeaf: try await cancelled(deaf: true, prepare) { task, _ in task.cancel() }
        case .integratorCancelled: try await cancelled(deaf: false, prepare) { _, integrator in integrator.cancel() }
        case .superseded: try await superseded(prepare)
        case .released: try await released(inLine: false, prepare)
        case .releasedInLine: try await released(inLine: true, prepare)
        case .streamEnds, .streamFails, .streamWithoutValue, .streamCancelled: try await streamed(prepare)
        case .ignored: await rejected(.only, prepare)
        case .pastTheLimit: await rejected(.queue(limit: 0), prepare)
        case .cancelledInLine: await cancelledInLine(prepare)
        case .supersededInDebounce: try await debounced(prepare)
        }
    }

    private typealias Prepare = (IntegrationCall<Int>) -> IntegrationCall<Int>

    private func finish(_ provider: some DataProvider<Int, Int>, _ prepare: Prepare) async -> IntegrationTask<Int> {
        let task = prepare(Integrator(provider).prepareCall(1)).call()
        await task.finish()
        return task
    }

    private func dropped(_ prepare: Prepare) async throws -> IntegrationTask<Int> {
        let callbacks = ControlledCallbackDataProvider<Int, Int>()
        let task = prepare(Integrator(callbacks).prepareCall(1)).call()
        try await callbacks.waitForRequest().drop()
        await task.finish()
        return task
    }

    private func cancelled(
        deaf: Bool, _ prepare: Prepare, by cancel: (IntegrationTask<Int>, Integrator<Int, Int>) -> Void
    ) async throws -> IntegrationTask<Int> {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: !deaf)
        let integrator = Integrator(provider)
        let task = prepare(integrator.prepareCall(1)).call()
        let request = try await provider.waitForRequest()
        cancel(task, integrator)
        await task.finish()
        request.answer(1)
        return task
    }

    private func superseded(_ prepare: Prepare) async throws -> IntegrationTask<Int> {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: .latest)
        let task = prepare(integrator.prepareCall(1)).call()
        _ = try await provider.waitForRequest()
        let newer = integrator.prepareCall(2).call()
        await task.finish()
        newer.cancel()
        await newer.finish()
        return task
    }

    private func released(inLine: Bool, _ prepare: Prepare) async throws -> IntegrationTask<Int>? {
        let provider = ControlledDataProvider<Int, Int>()
        let hasEnded = Signal()
        var integrator: Integrator<Int, Int>? = Integrator(
            provider, executing: .queue, cancelsWhenReleased: true)
        if inLine { integrator?.prepareCall(0).call() }
        if let call = integrator?.prepareCall(1) {
            let prepared = prepare(call)
            _ = (inLine ? prepared.onCancel { _ in hasEnded.open() } : prepared.onCompletion { hasEnded.open() }).call()
        }
        _ = try await provider.waitForRequest()
        integrator = nil
        try await hasEnded.wait()
        return nil
    }

    private func streamed(_ prepare: Prepare) async throws -> IntegrationTask<Int> {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let hasValue = Signal()
        let task = prepare(Integrator(stream).prepareCall(1)).onSuccess { _ in hasValue.open() }.call()
        let request = try await stream.waitForRequest()
        if self != .streamWithoutValue {
            request.send(1)
            try await hasValue.wait()
        }
        switch self {
        case .streamFails: request.fail(Trouble.first)
        case .streamCancelled: task.cancel()
        default: request.finish()
        }
        await task.finish()
        return task
    }

    private func rejected(_ type: ExecutingType, _ prepare: Prepare) async -> IntegrationTask<Int> {
        let integrator = Integrator(ControlledDataProvider<Int, Int>(), executing: type)
        let first = integrator.prepareCall(0).call()
        let task = prepare(integrator.prepareCall(1)).call()
        await task.finish()
        first.cancel()
        await first.finish()
        return task
    }

    private func cancelledInLine(_ prepare: Prepare) async -> IntegrationTask<Int> {
        let integrator = Integrator(ControlledDataProvider<Int, Int>(), executing: .queue)
        let first = integrator.prepareCall(0).call()
        let task = prepare(integrator.prepareCall(1)).call()
        task.cancel()
        await task.finish()
        first.cancel()
        await first.finish()
        return task
    }

    private func debounced(_ prepare: Prepare) async throws -> IntegrationTask<Int> {
        let clock = ManualClock()
        let integrator = Integrator(Echo<Int>(), executing: .latest(debounce: .seconds(1)), clock: clock)
        let task = prepare(integrator.prepareCall(1)).call()
        try await clock.waitForSleepers(1)
        let newer = integrator.prepareCall(2).call()
        await task.finish()
        newer.cancel()
        await newer.finish()
        return task
    }
}
