/// A provider with transformed errors. Made by ``DataProvider/mapError(_:)``.
@frozen
public struct MapErrorDataProvider<Base: DataProvider>: StreamDataProvider {
    @usableFromInline let base: Base
    @usableFromInline let transform: @Sendable (any Error) -> any Error

    @inlinable
    init(_ base: Base, transform: @escaping @Sendable (any Error) -> any Error) {
        self.base = base
        self.transform = transform
    }

    /// Makes a request of the base, and transforms the error that it throws.
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

    /// The base, marked as having its errors transformed.
    public var structure: ProviderStructure { .wrapping(base.structure, in: "map errors") }

    /// True if the base delivers many values.
    public var deliversMany: Bool { base.stream != nil }

    /// The stages of the base: a closure around it is not a stage of its own.
    @inlinable
    public static var _stageCount: Int { Base._stageCount }

    /// Makes a request of the base with the reporter.
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
    /// Returns this provider with its errors transformed by a closure, which runs where the error was thrown.
    ///
    /// A cancellation (`CancellationError`, ``IntegrationError/cancelled(_:)``) is passed through unchanged. The
    /// ``DataProviderError/noAnswer`` of a stream that ends without a value is transformed.
    @inlinable
    public func mapError(
        _ transform: @escaping @Sendable (any Error) -> any Error
    ) -> MapErrorDataProvider<Self> {
        MapErrorDataProvider(self, transform: transform)
    }
}
