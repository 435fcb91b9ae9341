extension Task where Failure == any Error {
    /// The value. A cancel of whoever waits for it is handed on.
    package var valueHearingCancel: Success {
        get async throws {
            try await withTaskCancellationHandler {
                try await value
            } onCancel: {
                cancel()
            }
        }
    }
}
