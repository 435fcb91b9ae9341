/// A provider whose outputs are changed by a closure. Made by ``DataProvider/map(_:)``.
@frozen
public struct MapDataProvider<Base: DataProvider, Output: Sendable>: StreamDataProvider {
    @usableFromInline let base: Base
    @usableFromInline let transform: @Sendable (Base.Output) async throws -> Output

    /// Makes a provider that answers with what the closure makes of the base's answer.
    @inlinable
    public init(_ base: Base, transform: @escaping @Sendable (Base.Output) async throws -> Output) {
        self.base = base
        self.transform = transform
    }

    /// Asks the base, then the closure.
    @inlinable
    public func request(_ input: Base.Input) async throws -> Output {
        try await transform(base.request(input))
    }

    /// Each value of the base, changed.
    public func values(for input: Base.Input) -> ProviderValues<Output> {
        ProviderValues { [self] in
            MapCursor(values: ProviderValues(of: base, for: input).makeAsyncIterator(), transform: transform)
        }
    }

    /// The base, and then the closure.
    public var structure: ProviderStructure { .sequence([base.structure, .provider("map to \(Output.self)")]) }

    /// Whether the base delivers many values.
    public var deliversMany: Bool { base.stream != nil }

    /// The stages of the base: a closure around them is none of its own.
    @inlinable
    public static var _stageCount: Int { Base._stageCount }

    /// The request, heard by a reporter that has been looked up already.
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
    /// This provider with its output changed by a closure, which may throw and may wait.
    ///
    /// The closure runs on the caller's actor, unless it has a capture list, once for each value of a stream. For
    /// ``DataProvider/request(_:)`` it runs for the last value only.
    @inlinable
    public func map<New: Sendable>(
        _ transform: @escaping @Sendable (Output) async throws -> New
    ) -> MapDataProvider<Self, New> {
        MapDataProvider(self, transform: transform)
    }
}
