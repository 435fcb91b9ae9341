/// A provider with a transformed input. Made by ``DataProvider/mapInput(_:)``.
@frozen
public struct MapInputDataProvider<Base: DataProvider, Input: Sendable>: StreamDataProvider {
    @usableFromInline let base: Base
    @usableFromInline let transform: @Sendable (Input) async throws -> Base.Input

    @inlinable
    init(_ base: Base, transform: @escaping @Sendable (Input) async throws -> Base.Input) {
        self.base = base
        self.transform = transform
    }

    /// Transforms the input, and makes a request of the base.
    @inlinable
    public func request(_ input: Input) async throws -> Base.Output {
        try await base.request(transform(input))
    }

    /// The values of the base for the transformed input.
    public func values(for input: Input) -> ProviderValues<Base.Output> {
        ProviderValues { [self] in MapInputCursor(base: base, input: input, transform: transform) }
    }

    /// The closure, followed by the base.
    public var structure: ProviderStructure { .sequence([.provider("map from \(Input.self)"), base.structure]) }

    /// True if the base delivers many values.
    public var deliversMany: Bool { base.stream != nil }

    /// The stages of the base: a closure around it is not a stage of its own.
    @inlinable
    public static var _stageCount: Int { Base._stageCount }

    /// Makes a request of the base with the reporter.
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
    /// Returns a provider for another input, from which the closure makes this one's. The closure may throw and suspend.
    ///
    /// It runs on the caller's actor, unless it has a capture list, once for each request.
    @inlinable
    public func mapInput<New: Sendable>(
        _ transform: @escaping @Sendable (New) async throws -> Input
    ) -> MapInputDataProvider<Self, New> {
        MapInputDataProvider(self, transform: transform)
    }
}
