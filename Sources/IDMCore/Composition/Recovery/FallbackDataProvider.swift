/// A provider with another one for when it fails. Made by ``DataProvider/fallback(to:)``.
public struct FallbackDataProvider<Base: DataProvider, Other: DataProvider>: StreamDataProvider
where Other.Input == Base.Input, Other.Output == Base.Output {
    private let base: Base
    private let other: Other

    /// Makes a provider that asks the other one when the base fails.
    public init(_ base: Base, other: Other) {
        self.base = base
        self.other = other
    }

    /// Asks the base, and the other one if the base fails.
    public func request(_ input: Base.Input) async throws -> Base.Output {
        do {
            return try await base.request(input)
        } catch {
            guard error.isReasonToFallBack else { throw error }
        }
        return try await other.request(input)
    }

    /// The values of the base, and if it fails at any time, then those of the other one.
    public func values(for input: Base.Input) -> ProviderValues<Base.Output> {
        ProviderValues { [self] in
            FallbackCursor(other: other, input: input, values: AnsweringValues(of: base, for: input))
        }
    }

    /// The base, and the one for when it fails.
    public var structure: ProviderStructure {
        .branches("fallback", ["first": base.structure, "if it fails": other.structure])
    }

    /// Whether one of the two delivers many values.
    public var deliversMany: Bool { base.stream != nil || other.stream != nil }
}

private struct FallbackCursor<Other: DataProvider>: ValueCursor {
    let other: Other
    let input: Other.Input
    var values: AnsweringValues<Other.Output>
    var hasFallenBack = false

    mutating func next(isolation: isolated (any Actor)?) async throws -> Other.Output? {
        do {
            return try await values.next(isolation: isolation)
        } catch {
            guard !hasFallenBack, error.isReasonToFallBack else { throw error }
        }
        hasFallenBack = true
        values = AnsweringValues(of: other, for: input)
        return try await values.next(isolation: isolation)
    }
}

extension Error {
    fileprivate var isReasonToFallBack: Bool { CancelReason(self) == nil && !Task.isCancelled }
}

extension DataProvider {
    /// This provider, and if it fails, another one with the same input. If both fail, the error is the other's.
    ///
    /// When a stream fails, at any time, the other's values follow those that have been heard. One that ends without a
    /// value has failed with ``DataProviderError/noAnswer``. A cancellation
    /// (`CancellationError`, ``IntegrationError/cancelled(_:)``) and the failure of a cancelled task pass through: the
    /// other one isn't asked.
    public func fallback<Other: DataProvider>(
        to other: Other
    ) -> FallbackDataProvider<Self, Other> where Other.Input == Input, Other.Output == Output {
        FallbackDataProvider(self, other: other)
    }
}
