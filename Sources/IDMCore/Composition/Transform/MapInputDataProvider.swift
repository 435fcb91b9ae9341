/// A provider that takes another input, from which a closure makes the base's. Made by ``DataProvider/mapInput(_:)``.
@frozen
public struct MapInputDataProvider<Base: DataProvider, Input: Sendable>: StreamDataProvider {
    @usableFromInline let base: Base
    @usableFromInline let transform: @Sendable (Input) async throws -> Base.Input

    /// Makes a provider that asks the base with what the closure makes of the input.
    @inlinable
    public init(_ base: Base, transform: @escaping @Sendable (Input) async throws -> Base.Input) {
        self.base = base
        self.transform = transform
    }

    /// Asks the closure, then the base.
    @inlinable
    public func request(_ input: Input) async throws -> Base.Output {
        try await base.request(transform(input))
    }

    /// The values of the base for the changed input.
    public func values(for input: Input) -> ProviderValues<Base.Output> {
        ProviderValues { [self] in MapInputCursor(base: base, input: input, transform: transform) }
    }

    /// The closure, and then the base.
    public var structure: ProviderStructure { .sequence([.provider("map from \(Input.self)"), base.structure]) }

    /// Whether the base delivers many values.
    public var deliversMany: Bool { base.stream != nil }

    /// The stages of the base: a closure around them is none of its own.
    @inlinable
    public static var _stageCount: Int { Base._stageCount }

    /// The request, heard by a reporter that has been looked up already.
    @inlinable
    public func _request(_ input: Input, reporter: IntegrationProgress.Reporter?) async throws -> Base.Output {
        try await base._request(transform(input), reporter: reporter)
    }
}

private struct MapInputCursor<Base: DataProvider, Input: Sendable>: ValueCursor {
    let base: Base
    let input: Input
    let transform: @Sendable (Input) async throws -> Base.Input
    var values: ProviderValues<Base.Output>.Iterator?

    mutating func next(isolation: isolated (any Actor)?) async throws -> Base.Output? {
        if values == nil {
            values = ProviderValues(of: base, for: try await transform(input)).makeAsyncIterator()
        }
        return try await values?.next(isolation: isolation)
    }
}

extension DataProvider {
    /// This provider for another input, from which the closure makes the one that is needed. It may throw and may wait.
    ///
    /// The closure runs on the caller's actor, unless it has a capture list, once for each request.
    @inlinable
    public func mapInput<New: Sendable>(
        _ transform: @escaping @Sendable (New) async throws -> Input
    ) -> MapInputDataProvider<Self, New> {
        MapInputDataProvider(self, transform: transform)
    }
}
