/// A provider with a transformed output. Made by ``DataProvider/map(_:)``.
public struct MapDataProvider<Base: DataProvider, Output: Sendable>: StreamDataProvider {
    let base: Base
    let transform: @Sendable (Base.Output) async throws -> Output

    public func request(_ input: Base.Input) async throws -> Output {
        try await SideRequests.scope { try await transform(base.request(input)) }
    }

    public func values(for input: Base.Input) -> ProviderValues<Output> {
        ProviderValues(of: base, for: input).transformed(transform)
    }

    public var structure: ProviderStructure { .sequence([base.structure, .provider("map to \(Output.self)")]) }
    public var deliversMany: Bool { base.stream != nil }

    // A closure around a provider is not a stage of its own.
    @inlinable
    public static var _stageCount: Int { Base._stageCount }
}

extension DataProvider {
    /// Returns this provider with its output transformed by a closure, which may throw and suspend.
    ///
    /// The closure runs on the caller's actor, unless it has a capture list. It runs for each value of a stream; for
    /// ``DataProvider/request(_:)`` only for the last one.
    public func map<New: Sendable>(
        _ transform: @escaping @Sendable (Output) async throws -> New
    ) -> MapDataProvider<Self, New> {
        MapDataProvider(base: self, transform: transform)
    }
}
