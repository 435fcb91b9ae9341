// Sinks are handlers that are objects. They run on the main actor, in the order in which sinks and other handlers were
// added. They are held weakly: a released sink receives nothing more, and the call continues.

extension IntegrationCall {
    /// Shows on a screen that this call is loading.
    public consuming func loadingHandler(_ sink: some LoadingHandling) -> IntegrationCall {
        let count = SinkLoadingCount(sink)
        return onBeginning { @MainActor in count.begin() }.onCompletion { @MainActor in count.finish() }
    }

    /// Passes the error of this call to a screen or an ``ErrorRouter``, with the action that makes the call again.
    public consuming func errorHandler(_ sink: some ErrorHandling) -> IntegrationCall {
        onFailure { @MainActor [weak sink] error, repetition in
            sink?.handle(error: error, retry: { repetition(MainActor.shared) })
        }
    }

    /// Passes the values of this call to a screen.
    public consuming func dataHandler(_ sink: some DataHandling<Output>) -> IntegrationCall {
        onSuccess { @MainActor [weak sink] value in sink?.handle(data: value) }
    }

    /// Shows the progress of this call on a screen.
    public consuming func progressHandler(_ sink: some ProgressHandling) -> IntegrationCall {
        onProgress { @MainActor [weak sink] progress in sink?.handle(progress: progress) }
    }
}

/// Sinks for all calls of an integrator. They run before the call's own handlers.
extension Integrator {
    /// Shows on a screen that a call is loading. See ``IntegrationCall/loadingHandler(_:)``.
    @discardableResult
    public func loadingHandler(_ sink: some LoadingHandling) -> Self {
        let count = SinkLoadingCount(sink)
        return onBeginning { @MainActor in count.begin() }.onCompletion { @MainActor in count.finish() }
    }

    /// Passes the errors of all calls to a screen or an ``ErrorRouter``. See ``IntegrationCall/errorHandler(_:)``.
    @discardableResult
    public func errorHandler(_ sink: some ErrorHandling) -> Self {
        onFailure { @MainActor [weak sink] error, repetition in
            sink?.handle(error: error, retry: { repetition(MainActor.shared) })
        }
    }

    /// Passes the values of all calls to a screen. See ``IntegrationCall/dataHandler(_:)``.
    @discardableResult
    public func dataHandler(_ sink: some DataHandling<Output>) -> Self {
        onSuccess { @MainActor [weak sink] value in sink?.handle(data: value) }
    }

    /// Shows the progress of all calls on a screen. See ``IntegrationCall/progressHandler(_:)``.
    @discardableResult
    public func progressHandler(_ sink: some ProgressHandling) -> Self {
        onProgress { @MainActor [weak sink] progress in sink?.handle(progress: progress) }
    }
}

/// Counts the running calls of one loading sink across all calls and integrators that it is attached to.
private struct SinkLoadingCount: Sendable {
    private struct Entry {
        weak var sink: (any LoadingHandling)?
        var runningCalls: Int
    }

    /// One entry per sink with running calls. An entry goes with the last running call of its sink.
    @MainActor private static var entries: [ObjectIdentifier: Entry] = [:]

    private let key: ObjectIdentifier
    private weak let sink: (any LoadingHandling)?

    init(_ sink: any LoadingHandling) {
        key = ObjectIdentifier(sink)
        self.sink = sink
    }

    @MainActor
    func begin() {
        guard let sink else { return }
        // The entry of a released sink can stand under the identifier of a new object.
        if let entry = Self.entries[key], entry.sink === sink {
            Self.entries[key]?.runningCalls += 1
        } else {
            Self.entries[key] = Entry(sink: sink, runningCalls: 1)
            sink.beginLoading()
        }
    }

    @MainActor
    func finish() {
        guard let entry = Self.entries[key], entry.sink === sink else { return }
        if let sink, entry.runningCalls > 1 {
            Self.entries[key] = Entry(sink: sink, runningCalls: entry.runningCalls - 1)
        } else {
            Self.entries[key] = nil
            sink?.finishLoading()
        }
    }
}
