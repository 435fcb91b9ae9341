import IDMCore
import IDMTesting

/// Code that calls back when the test says so, or never.
final class HeldCallbacks<Input: Sendable, Output: Sendable>: CallbackDataProvider {
    typealias Completion = @Sendable (Result<Output, any Error>) -> Void

    private struct State {
        var completions: [Completion] = []
        var requests = 0
        var cancels = 0
    }

    private let state = Watched(State())

    var requests: Int { state.value.requests }
    /// How often a cancel handler has been called.
    var cancels: Int { state.value.cancels }

    func request(_ input: Input, completion: @escaping Completion) -> CancelHandler? {
        state.change { state in
            state.requests += 1
            state.completions.append(completion)
        }
        return { [state] in state.change { $0.cancels += 1 } }
    }

    /// Waits until so many requests have been made.
    func requested(_ count: Int = 1) async throws {
        try await state.wait { $0.requests >= count }
    }

    /// Calls back to the request of an index, from here.
    func answer(_ index: Int = 0, _ result: Result<Output, any Error>) {
        state.value.completions[index](result)
    }

    /// Lets all completions go.
    func drop() {
        // Taken out first: they are to be let go outside of the lock.
        _ = state.change { state in
            defer { state.completions = [] }
            return state.completions
        }
    }
}
