/// What a call of no integrator asks: a provider, with an input.
package final class DirectInquiry<Input: Sendable, Output: Sendable>: CallSource, Inquiry {
    private let provider: any DataProvider<Input, Output>
    private let input: Input

    package init(_ provider: any DataProvider<Input, Output>, _ input: Input) {
        self.provider = provider
        self.input = input
    }

    /// A call that asks this. Nothing but its task cancels it.
    package var call: ErasedCall { ErasedCall(source: self, integrator: self, plan: CallConfiguration()) }

    var engine: IntegratorCore { .common(for: self) }

    func lane() -> LaneKey? { nil }

    func inquire(at gate: LaneScheduler) -> any Inquiry { self }

    var isStream: Bool { provider.stream != nil }

    func request() async throws -> any Sendable {
        try await provider.request(input)
    }

    func request(reporter: IntegrationProgress.Reporter) async throws -> any Sendable {
        try await provider._request(input, reporter: reporter)
    }

    func values() -> ProviderValues<any Sendable> {
        values(of: provider)
    }

    /// Opens the provider's type.
    private func values(of provider: some DataProvider<Input, Output>) -> ProviderValues<any Sendable> {
        ProviderValues(of: provider, for: input).erased()
    }

    func leave() {}
}
