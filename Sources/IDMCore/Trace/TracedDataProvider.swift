/// A provider whose requests are recorded. Made by ``DataProvider/traced(_:by:)``.
public struct TracedDataProvider<Base: DataProvider>: StreamDataProvider {
    private let base: Base
    private let name: String
    private let recorder: TraceRecorder

    /// Makes a provider that records each request of the base, on a track of its name.
    public init(_ base: Base, name: String, recorder: TraceRecorder) {
        self.base = base
        self.name = name
        self.recorder = recorder
    }

    /// Asks the base, and records how long that took and what came of it.
    public func request(_ input: Base.Input) async throws -> Base.Output {
        try await record { try await base.request(input) }
    }

    /// The values of the base, each with a mark.
    public func values(for input: Base.Input) -> ProviderValues<Base.Output> {
        ProviderValues { [self] in
            TracedCursor(
                name: name, recorder: recorder, values: ProviderValues(of: base, for: input).makeAsyncIterator())
        }
    }

    /// The base: to be recorded is no part of a structure.
    public var structure: ProviderStructure { base.structure }

    /// Whether the base delivers many values.
    public var deliversMany: Bool { base.stream != nil }

    /// The stages of the base.
    public static var _stageCount: Int { Base._stageCount }

    /// The request, heard by a reporter that has been looked up already.
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

    /// At the first value, and not when the cursor is made: there may be a wait between.
    private mutating func begin() -> TraceRecorder.Span {
        let span = recorder.begin(name, on: name)
        self.span = span
        pauses = span.pauses()
        return span
    }
}

extension TraceRecorder.Span {
    /// Marks when whoever asks pauses the request, and when it goes on, until what is returned is let go.
    fileprivate func pauses() -> PauseControl.Observation? {
        guard let control = PauseControl.current else { return nil }
        // Weakly: the control keeps its observers.
        let mark: @Sendable () -> Void = { [weak control] in
            if let control { self.mark(control.isPaused ? "paused" : "resumed") }
        }
        let observation = control.observe(mark)
        if control.isPaused { mark() }
        return observation
    }
}

extension DataProvider {
    /// This provider with each of its requests recorded: when it began, when it was paused and went on, when it ended,
    /// and how. Nothing of inputs and outputs is recorded; of an error its type is.
    ///
    /// The span of a stream that is left before its end stays open.
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
        return "failure: \(type(of: innermost))"
    }
}
