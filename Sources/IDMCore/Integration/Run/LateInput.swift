/// What a call of no integrator asks: a provider, for an input that is made when the call comes to it.
package final class LateInput<Input: Sendable, Output: Sendable>: InquirySource, Inquiry {
    private let provider: any DataProvider<Input, Output>
    private let make: @Sendable () throws -> Input

    package init(_ provider: any DataProvider<Input, Output>, _ make: @escaping @Sendable () throws -> Input) {
        self.provider = provider
        self.make = make
    }

    var engine: Engine { .common(for: self) }

    func lane() -> LaneKey? { nil }

    func inquire(at gate: Gate) -> any Inquiry { self }

    var isStream: Bool { provider.stream != nil }

    func request() async throws -> any Sendable {
        try await provider.request(make())
    }

    func request(reporter: IntegrationProgress.Reporter) async throws -> any Sendable {
        try await provider._request(make(), reporter: reporter)
    }

    func values() -> ProviderValues<any Sendable> {
        values(of: provider)
    }

    /// Opens the provider's type.
    private func values(of provider: some DataProvider<Input, Output>) -> ProviderValues<any Sendable> {
        ProviderValues(of: provider.mapInput { (_: Void) in try self.make() }, for: ()).erased()
    }

    func leave() {}
}
