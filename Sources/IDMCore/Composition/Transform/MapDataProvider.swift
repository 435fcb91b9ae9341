/// A provider with a transformed output. Made by ``DataProvider/map(_:)``.
@frozen
public struct MapDataProvider<Base: DataProvider, Output: Sendable>: StreamDataProvider {
    @usableFromInline let base: Base
    @usableFromInline let transform: @Sendable (Base.Output) async throws -> Output

    @inlinable
    init(_ base: Base, transform: @escaping @Sendable (Base.Output) async throws -> Output) {
        self.base = base
        self.transform = transform
    }

    /// Makes a request of the base, and transforms its answer.
    @inlinable
    public func request(_ input: Base.Input) async throws -> Output {
        guard AmbientValues.areUsed else { return try await transform(base.request(input)) }
        return try await SideRequests.scope { try await transform(base.request(input)) }
    }

    /// The transformed values of the base.
    public func values(for input: Base.Input) -> ProviderValues<Output> {
        ProviderValues { [self] in
            MapCursor(values: ProviderValues(of: base, for: input).makeAsyncIterator(), transform: transform)
        }
    }

    /// The base, followed by the closure.
    public var structure: ProviderStructure { .sequence([base.structure, .provider("map to \(Output.self)")]) }

    /// True if the base delivers many values.
    public var deliversMany: Bool { base.stream != nil }

    /// The stages of the base: a closure around it is not a stage of its own.
    @inlinable
    public static var _stageCount: Int { Base._stageCount }

    /// Makes a request of the base with the reporter.
    @inlinable
    public func _request(_ input: Base.Input, reporter: IntegrationProgress.Reporter?) async throws -> Output {
        try await transform(base._request(input, reporter: reporter))
    }
}

private struct MapCursor<Source: Sendable, Output: Sendable>: ValueCursor {
    var values: ProviderValues<Source>.Iterator
    let transform: @Sendable (Source) async throws -> Output

    mutating func next(isolation: isolated (any Actor)?) async throws -> Output? {
        guard let value = try await values.next(isolation: isolation) else { return nil }
        return try await transform(value)
    }
}

extension DataProvider {
    /// Returns this provider with its output transformed by a closure, which may throw and suspend.
    ///
    /// The closure runs on the caller's actor, unless it has a capture list. It runs for each value of a stream; for
    /// ``DataProvider/request(_:)`` only for the last one.
    @inlinable
    public func map<New: Sendable>(
        _ transform: @escaping @Sendable (Output) async throws -> New
    ) -> MapDataProvider<Self, New> {
        MapDataProvider(self, transform: transform)
    }
}
