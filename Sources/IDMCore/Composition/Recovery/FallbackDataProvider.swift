/// A provider with a replacement for its failures. Made by ``DataProvider/fallback(to:)``.
public struct FallbackDataProvider<Base: DataProvider, Replacement: DataProvider>: StreamDataProvider
where Replacement.Input == Base.Input, Replacement.Output == Base.Output {
    let base: Base
    let replacement: Replacement

    public func request(_ input: Base.Input) async throws -> Base.Output {
        try await SideRequests.scope {
            do {
                return try await base.request(input)
            } catch {
                guard error.isReasonToFallBack else { throw error }
            }
            return try await replacement.request(input)
        }
    }

    public func values(for input: Base.Input) -> ProviderValues<Base.Output> {
        ProviderValues { [self] in
            var values = AnsweringValues(of: base, for: input)
            var hasFallenBack = false
            return { isolation in
                do {
                    return try await values.next(isolation: isolation)
                } catch {
                    guard !hasFallenBack, error.isReasonToFallBack else { throw error }
                }
                hasFallenBack = true
                values = AnsweringValues(of: replacement, for: input)
                return try await values.next(isolation: isolation)
            }
        }
    }

    public var structure: ProviderStructure {
        .branches("fallback", ["first": base.structure, "if it fails": replacement.structure])
    }

    public var deliversMany: Bool { base.stream != nil || replacement.stream != nil }
}

extension Error {
    fileprivate var isReasonToFallBack: Bool { CancelReason(self) == nil && !Task.isCancelled }
}

extension DataProvider {
    /// Returns a provider that asks `replacement` with the same input if this one fails. If both fail, it throws the
    /// error of the replacement.
    ///
    /// When a stream fails, the values of the replacement follow those that have been delivered. A stream that ends
    /// without a value has failed with ``DataProviderError/noAnswer``. A cancellation (`CancellationError`,
    /// ``IntegrationError/cancelled(_:)``) and any error of a cancelled task are thrown without asking the replacement.
    public func fallback<Replacement: DataProvider>(
        to replacement: Replacement
    ) -> FallbackDataProvider<Self, Replacement> where Replacement.Input == Input, Replacement.Output == Output {
        FallbackDataProvider(base: self, replacement: replacement)
    }
}
