extension TraceRecorder {
    /// Records each call of an integrator from now on.
    ///
    /// A call is a span from `call()` to its last handler. Inside stand a span for the time that the call waits, a span
    /// for the time that it runs, and marks for its retries and values. The integrator holds the recorder.
    ///
    /// - Parameters:
    ///   - integrator: The integrator that makes the calls.
    ///   - name: The name of the track.
    ///   - describe: Returns the name of a call from its input. Called once per call, inside `call()`. By default, inputs
    ///     are not shown.
    public func watch<Input, Output>(
        _ integrator: Integrator<Input, Output>, as name: String,
        describing describe: @escaping @Sendable (Input) -> String = { _ in "call" }
    ) {
        let watcher = CallRecorder(recorder: self, track: name) { source in
            (source as? PreparedInput<Input, Output>).map { describe($0.input) } ?? "call"
        }
        integrator.core.addHandlers(SharedHandlers(observers: [watcher]))
    }
}

/// Records the calls of an integrator.
private final class CallRecorder: CallObserver {
    private let recorder: TraceRecorder
    private let track: String
    private let describe: @Sendable (any CallSource) -> String
    private let calls = Locked([ObjectIdentifier: Spans]())

    private struct Spans {
        let whole: TraceRecorder.Span
        var part: TraceRecorder.Span
    }

    init(recorder: TraceRecorder, track: String, describe: @escaping @Sendable (any CallSource) -> String) {
        self.recorder = recorder
        self.track = track
        self.describe = describe
    }

    func callDidChange(_ event: CallLifecycle, of call: ObjectIdentifier) {
        switch event {
        case .made(let source):
            let whole = recorder.begin(describe(source), on: track)
            let waiting = recorder.begin("waits", on: track, within: whole)
            calls.withLock { $0[call] = Spans(whole: whole, part: waiting) }
        case .began:
            guard let spans = calls.withLock({ $0[call] }) else { return }
            spans.part.end()
            let running = recorder.begin("runs", on: track, within: spans.whole)
            let isOpen = calls.withLock { calls in
                calls[call]?.part = running
                return calls[call] != nil
            }
            // A cancel on another thread may have ended the call in between.
            if !isOpen { running.end() }
        case .retried(let attempt): calls.withLock { $0[call] }?.part.mark("retry \(attempt)")
        case .rejected: break
        case .value: calls.withLock { $0[call] }?.part.mark("value")
        case .ended(let outcome):
            guard let spans = calls.withLock({ $0.removeValue(forKey: call) }) else { return }
            spans.part.end()
            spans.whole.end(outcome.traced)
        }
    }
}

extension IntegrationOutcome {
    fileprivate var traced: String {
        switch self {
        case .success: "success"
        case .failure(let error): error.traced
        case .cancelled(let reason): "cancelled: \(reason)"
        }
    }
}
