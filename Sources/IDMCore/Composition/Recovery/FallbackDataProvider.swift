/// A provider with a replacement for its failures. Made by ``DataProvider/fallback(to:)``.
public struct FallbackDataProvider<Base: DataProvider, Replacement: DataProvider>: StreamDataProvider
where Replacement.Input == Base.Input, Replacement.Output == Base.Output {
    private let base: Base
    private let replacement: Replacement

    init(_ base: Base, replacement: Replacement) {
        self.base = base
        self.replacement = replacement
    }

    /// Makes a request of the base, and of the replacement if the base fails.
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

    /// The values of the base, followed by those of the replacement if the base fails.
    public func values(for input: Base.Input) -> ProviderValues<Base.Output> {
        ProviderValues { [self] in
            FallbackCursor(replacement: replacement, input: input, values: AnsweringValues(of: base, for: input))
        }
    }

    /// The base and the replacement.
    public var structure: ProviderStructure {
        .branches("fallback", ["first": base.structure, "if it fails": replacement.structure])
    }

    /// True if the base or the replacement delivers many values.
    public var deliversMany: Bool { base.stream != nil || replacement.stream != nil }
}

private struct FallbackCursor<Replacement: DataProvider>: ValueCursor {
    let replacement: Replacement
    let input: Replacement.Input
    var values: AnsweringValues<Replacement.Output>
    var hasFallenBack = false

    mutating func next(isolation: isolated (any Actor)?) async throws -> Replacement.Output? {
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
        FallbackDataProvider(self, replacement: replacement)
    }
}
