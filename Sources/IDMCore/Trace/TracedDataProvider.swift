/// A provider that records its requests. Created by ``DataProvider/traced(_:by:)``.
public struct TracedDataProvider<Base: DataProvider>: StreamDataProvider {
    private let base: Base
    private let name: String
    private let recorder: TraceRecorder

    /// Creates a provider that records each request of the base, on a track with the given name.
    public init(_ base: Base, name: String, recorder: TraceRecorder) {
        self.base = base
        self.name = name
        self.recorder = recorder
    }

    /// Makes the request, and records its length and its result.
    public func request(_ input: Base.Input) async throws -> Base.Output {
        try await record { try await base.request(input) }
    }

    /// The values of the base. Each is recorded as a mark.
    public func values(for input: Base.Input) -> ProviderValues<Base.Output> {
        ProviderValues { [self] in
            TracedCursor(
                name: name, recorder: recorder, values: ProviderValues(of: base, for: input).makeAsyncIterator())
        }
    }

    /// The structure of the base. Recording is not shown in it.
    public var structure: ProviderStructure { base.structure }

    /// True if the base delivers many values.
    public var deliversMany: Bool { base.stream != nil }

    /// The number of stages of the base.
    public static var _stageCount: Int { Base._stageCount }

    /// Makes the request with a progress reporter that the caller has already looked up.
    public func _request(_ input: Base.Input, reporter: IntegrationProgress.Reporter?) async throws -> Base.Output {
        try await record { try await base._request(input, reporter: reporter) }
    }

    private func record(_ ask: () async throws -> Base.Output) async throws -> Base.Output {
        let span = recorder.begin(name, on: name)
        let pauses = span.pauses()
        defer { withExtendedLifetime(pauses) {} }
        do {
            let output = try await ask()
            span.end("success")
            return output
        } catch {
            span.end(error.traced)
            throw error
        }
    }
}

private struct TracedCursor<Output: Sendable>: ValueCursor {
    let name: String
    let recorder: TraceRecorder
    var values: ProviderValues<Output>.Iterator
    var span: TraceRecorder.Span?
    var pauses: PauseControl.Observation?

    mutating func next(isolation: isolated (any Actor)?) async throws -> Output? {
        let span = span ?? begin()
        do {
            guard let value = try await values.next(isolation: isolation) else {
                span.end("success")
                return nil
            }
            span.mark("value")
            return value
        } catch {
            span.end(error.traced)
            throw error
        }
    }

    /// Begins the span with the first value, because time may pass after the cursor is created.
    private mutating func begin() -> TraceRecorder.Span {
        let span = recorder.begin(name, on: name)
        self.span = span
        pauses = span.pauses()
        return span
    }
}

extension TraceRecorder.Span {
    /// Marks each pause and resume of the request until the returned observation is released.
    fileprivate func pauses() -> PauseControl.Observation? {
        guard let control = PauseControl.current else { return nil }
        // Weakly, because the control holds its observers.
        let mark: @Sendable () -> Void = { [weak control] in
            if let control { self.mark(control.isPaused ? "paused" : "resumed") }
        }
        let observation = control.observe(mark)
        if control.isPaused { mark() }
        return observation
    }
}

extension DataProvider {
    /// Records each request of this provider: its beginning, its pauses, its end and its result.
    ///
    /// Inputs and outputs are not recorded, and only the type of an error is. The span of a stream that isn't read to
    /// its end stays open.
    public func traced(_ name: String, by recorder: TraceRecorder) -> TracedDataProvider<Self> {
        TracedDataProvider(self, name: name, recorder: recorder)
    }
}

extension Error {
    /// The error as a trace shows it: the reason of a cancellation, or the type of the innermost wrapped error. Its text
    /// is left out, because it may contain private data.
    var traced: String {
        if let reason = CancelReason(self) { return "cancelled: \(reason)" }
        var innermost: any Error = self
        for error in unwrapping { innermost = error }
        return "failure: \(innermost.typeName)"
    }
}
