/// Sinks for every call of an integrator.
extension Integrator {
    /// Lets a screen show that a call is loading. See ``IntegrationCall/loadingHandler(_:)``.
    @discardableResult
    public func loadingHandler(_ sink: some LoadingHandling) -> Self {
        onBeginning { @MainActor [weak sink] in sink?.beginLoading() }
            .onCompletion { @MainActor [weak sink] in sink?.finishLoading() }
    }

    /// Lets a screen, or an ``ErrorRouter``, take the errors of all calls. See ``IntegrationCall/errorHandler(_:)``.
    @discardableResult
    public func errorHandler(_ sink: some ErrorHandling) -> Self {
        onError { @MainActor [weak sink] error in sink?.handle(error: error) }
    }

    /// Lets a screen take the values of all calls. See ``IntegrationCall/dataHandler(_:)``.
    @discardableResult
    public func dataHandler(_ sink: some DataHandling<Output>) -> Self {
        onSuccess { @MainActor [weak sink] value in sink?.handle(data: value) }
    }

    /// Lets a screen show the progress of all calls. See ``IntegrationCall/progressHandler(_:)``.
    @discardableResult
    public func progressHandler(_ sink: some ProgressHandling) -> Self {
        onProgress { @MainActor [weak sink] progress in sink?.handle(progress: progress) }
    }
}
