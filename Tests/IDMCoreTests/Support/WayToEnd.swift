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

    private var isRelease: Bool { self == .released || self == .releasedInLine }

    private var executingType: ExecutingType {
        switch self {
        case .superseded: .latest
        case .ignored: .only
        case .pastTheLimit: .queue(limit: 0)
        case .cancelledInLine, .releasedInLine: .queue
        default: .default
        }
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
        case .streamEnds, .streamFails, .streamWithoutValue, .streamCancelled: try await streamed(prepare)
        case .supersededInDebounce: try await debounced(prepare)
        default: try await controlled(prepare)
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

    private func controlled(_ prepare: Prepare) async throws -> IntegrationTask<Int>? {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: self != .cancelledThoughDeaf)
        let hasEnded = Signal()
        var integrator: Integrator<Int, Int>? = Integrator(
            provider, executing: executingType, cancelsWhenReleased: true)
        var others = isStarted ? [] : [integrator?.prepareCall(0).call()]
        var task: IntegrationTask<Int>?
        if let call = integrator?.prepareCall(1) {
            let prepared = prepare(call)
            task =
                (isRelease ? prepared.onCancel { _ in hasEnded.open() }.onCompletion { hasEnded.open() } : prepared)
                .call()
        }
        let request = try await provider.waitForRequest()
        switch self {
        case .integratorCancelled: integrator?.cancel()
        case .superseded: others.append(integrator?.prepareCall(2).call())
        case .released, .releasedInLine: (task, others, integrator) = (nil, [], nil)
        case .ignored, .pastTheLimit: break
        default: task?.cancel()
        }
        if isRelease { try await hasEnded.wait() }
        await task?.finish()
        request.answer(1)
        for other in others {
            other?.cancel()
            await other?.finish()
        }
        return task
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
