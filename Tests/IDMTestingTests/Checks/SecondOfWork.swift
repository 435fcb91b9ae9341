import IDMCore
import IDMTesting

extension ManualClock {
    /// A task of its own that has the input as its value after a second.
    func secondOfWork(with input: Int) -> Task<Int, any Error> {
        Task(executorPreference: workload) {
            try await self.sleep(for: .seconds(1))
            return input
        }
    }
}

extension Task where Failure == any Error {
    /// The value. A cancel of whoever waits for it is handed on.
    var valueHearingCancel: Success {
        get async throws {
            try await withTaskCancellationHandler {
                try await value
            } onCancel: {
                cancel()
            }
        }
    }
}
