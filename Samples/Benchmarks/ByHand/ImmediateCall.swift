import IDMCore

/// Requests a provider and calls three handlers, without an integrator. Supports neither cancellation nor failure.
@MainActor
struct ImmediateCall {
    let onBeginning: @MainActor () -> Void
    let onSuccess: @MainActor (Int) -> Void
    let onCompletion: @MainActor () -> Void

    @discardableResult
    func start(_ provider: Increment, _ input: Int) -> Task<Void, any Error> {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            Task.immediate { try await run(provider, input) }
        } else {
            Task { try await run(provider, input) }
        }
    }

    private func run(_ provider: Increment, _ input: Int) async throws {
        onBeginning()
        onSuccess(try await provider.request(input))
        onCompletion()
    }
}
