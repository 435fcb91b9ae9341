/// What a call of no integrator asks: a provider, for an input that is given, or made when the call comes to it.
package final class LateInput<Input: Sendable, Output: Sendable>: InquirySource, Inquiry {
    private enum Source: Sendable {
        case given(Input)
        case made(@Sendable () throws -> Input)
    }

    private let provider: any DataProvider<Input, Output>
    private let source: Source

    package init(_ provider: any DataProvider<Input, Output>, _ input: Input) {
        self.provider = provider
        source = .given(input)
    }

    package init(_ provider: any DataProvider<Input, Output>, make: @escaping @Sendable () throws -> Input) {
        self.provider = provider
        source = .made(make)
    }

    private var input: Input {
        get throws {
            switch source {
            case .given(let input): input
            case .made(let make): try make()
            }
        }
    }

    var engine: Engine { .common(for: self) }

    func lane() -> LaneKey? { nil }

    func inquire(at gate: Gate) -> any Inquiry { self }

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
        ProviderValues(of: provider.mapInput { (_: Void) in try self.input }, for: ()).erased()
    }

    func leave() {}
}
