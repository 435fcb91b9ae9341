/// A provider whose errors are changed by a closure. Made by ``DataProvider/mapError(_:)``.
@frozen
public struct MapErrorDataProvider<Base: DataProvider>: StreamDataProvider {
    @usableFromInline let base: Base
    @usableFromInline let transform: @Sendable (any Error) -> any Error

    /// Makes a provider that throws what the closure makes of the base's error.
    @inlinable
    public init(_ base: Base, transform: @escaping @Sendable (any Error) -> any Error) {
        self.base = base
        self.transform = transform
    }

    /// Asks the base, and changes the error that it throws.
    @inlinable
    public func request(_ input: Base.Input) async throws -> Base.Output {
        do {
            return try await base.request(input)
        } catch {
            throw changed(error)
        }
    }

    /// The values of the base.
    public func values(for input: Base.Input) -> ProviderValues<Base.Output> {
        ProviderValues { [self] in
            MapErrorCursor(provider: self, values: AnsweringValues(of: base, for: input))
        }
    }

    /// The base, with its errors changed.
    public var structure: ProviderStructure { .wrapping(base.structure, in: "map errors") }

    /// Whether the base delivers many values.
    public var deliversMany: Bool { base.stream != nil }

    /// The stages of the base: a closure around them is none of its own.
    @inlinable
    public static var _stageCount: Int { Base._stageCount }

    /// The request, heard by a reporter that has been looked up already.
    @inlinable
    public func _request(_ input: Base.Input, reporter: IntegrationProgress.Reporter?) async throws -> Base.Output {
        do {
            return try await base._request(input, reporter: reporter)
        } catch {
            throw changed(error)
        }
    }

    @usableFromInline
    func changed(_ error: any Error) -> any Error {
        CancelReason(error) == nil ? transform(error) : error
    }
}

private struct MapErrorCursor<Base: DataProvider>: ValueCursor {
    let provider: MapErrorDataProvider<Base>
    var values: AnsweringValues<Base.Output>

    mutating func next(isolation: isolated (any Actor)?) async throws -> Base.Output? {
        do {
            return try await values.next(isolation: isolation)
        } catch {
            throw provider.changed(error)
        }
    }
}

extension DataProvider {
    /// This provider with its errors changed by a closure, which runs where the error was thrown.
    ///
    /// The closure never sees a cancellation (`CancellationError`, ``IntegrationError/cancelled(_:)``): that passes
    /// through as it is. The ``DataProviderError/noAnswer`` of a stream that ends without a value it does see.
    @inlinable
    public func mapError(
        _ transform: @escaping @Sendable (any Error) -> any Error
    ) -> MapErrorDataProvider<Self> {
        MapErrorDataProvider(self, transform: transform)
    }
}
