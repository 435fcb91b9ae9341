/// A provider of which only the input and the output are known.
///
/// Prefer `some DataProvider<Input, Output>`; erase where providers of different types have to share one variable.
/// An erased stream is still a stream.
public struct AnyDataProvider<Input: Sendable, Output: Sendable>: StreamDataProvider {
    /// The provider inside.
    public let base: any DataProvider<Input, Output>

    /// Erases a provider. Erasing twice adds nothing.
    public init(_ base: some DataProvider<Input, Output>) {
        if let erased = base as? AnyDataProvider<Input, Output> {
            self = erased
        } else {
            self.base = base
            deliversMany = base.stream != nil
        }
    }

    /// Asks the provider inside.
    public func request(_ input: Input) async throws -> Output {
        try await base.request(input)
    }

    /// The values of the provider inside.
    public func values(for input: Input) -> ProviderValues<Output> {
        ProviderValues(of: base, for: input)
    }

    /// The provider inside.
    public var structure: ProviderStructure { base.structure }

    /// Whether the provider inside delivers many values.
    public let deliversMany: Bool
}

extension DataProvider {
    /// This provider with its type erased.
    public func eraseToAnyDataProvider() -> AnyDataProvider<Input, Output> {
        AnyDataProvider(self)
    }
}
