/// A provider with a transformed input. Made by ``DataProvider/mapInput(_:)``.
public struct MapInputDataProvider<Base: DataProvider, Input: Sendable>: StreamDataProvider {
    let base: Base
    let transform: @Sendable (Input) async throws -> Base.Input

    public func request(_ input: Input) async throws -> Base.Output {
        try await base.request(transform(input))
    }

    public func values(for input: Input) -> ProviderValues<Base.Output> {
        ProviderValues { [self] in
            var values: ProviderValues<Base.Output>.Iterator?
            return { isolation in
                if values == nil {
                    values = ProviderValues(of: base, for: try await transform(input)).makeAsyncIterator()
                }
                return try await values?.next(isolation: isolation)
            }
        }
    }

    public var structure: ProviderStructure { .sequence([.provider("map from \(Input.self)"), base.structure]) }
    public var deliversMany: Bool { base.stream != nil }

    // A closure around a provider is not a stage of its own.
    @inlinable
    public static var _stageCount: Int { Base._stageCount }
}

extension DataProvider {
    /// Returns a provider for another input, from which the closure makes this one's. The closure may throw and suspend.
    ///
    /// It runs on the caller's actor, unless it has a capture list, once for each request.
    public func mapInput<New: Sendable>(
        _ transform: @escaping @Sendable (New) async throws -> Input
    ) -> MapInputDataProvider<Self, New> {
        MapInputDataProvider(base: self, transform: transform)
    }
}
