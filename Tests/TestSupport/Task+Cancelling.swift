extension Task where Failure == any Error {
    /// The value. A cancel of the awaiting task cancels this task.
    package var valueReactingToCancel: Success {
        get async throws {
            try await withTaskCancellationHandler {
                try await value
            } onCancel: {
                cancel()
            }
        }
    }
}
