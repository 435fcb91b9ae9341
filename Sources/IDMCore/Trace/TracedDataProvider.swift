/// A provider that records its requests. Made by ``DataProvider/traced(_:by:)``.
public struct TracedDataProvider<Base: DataProvider>: StreamDataProvider {
    let base: Base
    let name: String
    let recorder: TraceRecorder

    public func request(_ input: Base.Input) async throws -> Base.Output {
        let span = recorder.begin(name, on: name)
        let pauses = span.pauses()
        defer { withExtendedLifetime(pauses) {} }
        do {
            let output = try await base.request(input)
            span.end("success")
            return output
        } catch {
            span.end(error.traced)
            throw error
        }
    }

    /// The values of the base. Each is recorded as a mark.
    public func values(for input: Base.Input) -> ProviderValues<Base.Output> {
        ProviderValues { [self] in
            var values = ProviderValues(of: base, for: input).makeAsyncIterator()
            var running: (span: TraceRecorder.Span, pauses: PauseControl.Observation?)?
            return { isolation in
                // Begun with the first value, because time may pass after the iterator has been made.
                let span = running?.span ?? recorder.begin(name, on: name)
                if running == nil { running = (span, span.pauses()) }
                do {
                    let value = try await values.next(isolation: isolation)
                    if value == nil { span.end("success") } else { span.mark("value") }
                    return value
                } catch {
                    span.end(error.traced)
                    throw error
                }
            }
        }
    }

    /// The structure of the base. Recording is not shown in it.
    public var structure: ProviderStructure { base.structure }
    public var deliversMany: Bool { base.stream != nil }
    public static var _stageCount: Int { Base._stageCount }
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
        TracedDataProvider(base: self, name: name, recorder: recorder)
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
