internal import Synchronization

/// What a call of no integrator asks: a provider, for an input that is made when the call comes to it. Made once.
package final class LateInput<Input: Sendable, Output: Sendable>: InquirySource, Inquiry {
    private let provider: any DataProvider<Input, Output>
    private let make: Mutex<(@Sendable () throws -> Input)?>

    package init(_ provider: some DataProvider<Input, Output>, _ make: @escaping @Sendable () throws -> Input) {
        self.provider = provider
        self.make = Mutex(make)
    }

    /// Replaces what the input is to be made from.
    package func replace(_ make: @escaping @Sendable () throws -> Input) {
        // What is replaced goes outside of the lock.
        _ = self.make.withLock { current in
            defer { current = make }
            return current
        }
    }

    /// Lets go of what the input was to be made from.
    package func clear() {
        // Goes outside of the lock.
        _ = make.withLock { $0.take() }
    }

    /// The input. What it was made from is let go of: those that name one another would hold each other for long.
    private func take() throws -> Input {
        // There is nothing left only for a call that is made twice.
        guard let make = make.withLock({ $0.take() }) else { throw CancellationError() }
        return try make()
    }

    var engine: Engine { .common }

    func lane() -> LaneKey? { nil }

    func inquire(at gate: Gate) -> any Inquiry { self }

    var isStream: Bool { provider.stream != nil }

    func request() async throws -> any Sendable {
        try await provider._request(take(), reporter: nil)
    }

    func request(reporter: IntegrationProgress.Reporter) async throws -> any Sendable {
        try await provider._request(take(), reporter: reporter)
    }

    func values() -> ProviderValues<any Sendable> {
        values(of: provider)
    }

    /// Opens the provider's type.
    private func values(of provider: some DataProvider<Input, Output>) -> ProviderValues<any Sendable> {
        ProviderValues(of: provider.mapInput { (_: Void) in try self.take() }, for: ()).erased()
    }

    func leave() {}
}
