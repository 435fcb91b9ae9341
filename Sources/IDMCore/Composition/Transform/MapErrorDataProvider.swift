/// A provider with transformed errors. Made by ``DataProvider/mapError(_:)``.
public struct MapErrorDataProvider<Base: DataProvider>: StreamDataProvider {
    let base: Base
    let transform: @Sendable (any Error) -> any Error

    public func request(_ input: Base.Input) async throws -> Base.Output {
        do {
            return try await base.request(input)
        } catch {
            throw changed(error)
        }
    }

    public func values(for input: Base.Input) -> ProviderValues<Base.Output> {
        ProviderValues { [self] in
            var values = AnsweringValues(of: base, for: input)
            return { isolation in
                do {
                    return try await values.next(isolation: isolation)
                } catch {
                    throw changed(error)
                }
            }
        }
    }

    public var structure: ProviderStructure { .wrapping(base.structure, in: "map errors") }
    public var deliversMany: Bool { base.stream != nil }

    // A closure around a provider is not a stage of its own.
    @inlinable
    public static var _stageCount: Int { Base._stageCount }

    private func changed(_ error: any Error) -> any Error {
        CancelReason(error) == nil ? transform(error) : error
    }
}

extension DataProvider {
    /// Returns this provider with its errors transformed by a closure, which runs where the error was thrown.
    ///
    /// A cancellation (`CancellationError`, ``IntegrationError/cancelled(_:)``) is passed through unchanged. The
    /// ``DataProviderError/noAnswer`` of a stream that ends without a value is transformed.
    public func mapError(
        _ transform: @escaping @Sendable (any Error) -> any Error
    ) -> MapErrorDataProvider<Self> {
        MapErrorDataProvider(base: self, transform: transform)
    }
}
