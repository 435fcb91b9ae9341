/// Sinks are handlers like any other, in the order in which they were added, on the main actor. They are held weakly:
/// one that has gone hears nothing more, and the call goes on.
extension IntegrationCall {
    /// Lets a screen show that this call is loading.
    public consuming func loadingHandler(_ sink: some LoadingHandling) -> IntegrationCall {
        onBeginning { @MainActor [weak sink] in sink?.beginLoading() }
            .onCompletion { @MainActor [weak sink] in sink?.finishLoading() }
    }

    /// Lets a screen, or an ``ErrorRouter``, take the error of this call.
    public consuming func errorHandler(_ sink: some ErrorHandling) -> IntegrationCall {
        onError { @MainActor [weak sink] error in sink?.handle(error: error) }
    }

    /// Lets a screen take the values of this call.
    public consuming func dataHandler(_ sink: some DataHandling<Output>) -> IntegrationCall {
        onSuccess { @MainActor [weak sink] value in sink?.handle(data: value) }
    }

    /// Lets a screen show the progress of this call.
    public consuming func progressHandler(_ sink: some ProgressHandling) -> IntegrationCall {
        onProgress { @MainActor [weak sink] progress in sink?.handle(progress: progress) }
    }
}
