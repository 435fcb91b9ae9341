/// A stage of a sequence that makes a model from its input.
///
/// An error of the model is thrown as ``IntegrationError/model(_:)``, wrapped once. A cancellation that the model
/// throws passes through as it is.
public struct ModelDataProvider<Model: DataModel>: DataProvider {
    let parsing: ModelParsing

    public func request(_ source: Model.Source) async throws -> Model {
        switch parsing {
        case .concurrent:
            let trip = LibraryTask.beginActivity()
            defer { trip?.endActivity() }
            return try await Self.parseConcurrently(source)
        case .inline: return try Self.parse(source)
        }
    }

    public var structure: ProviderStructure { .provider("model \(Model.self)") }

    @concurrent
    private static func parseConcurrently(_ source: Model.Source) async throws -> Model {
        try Task.checkCancellation()
        return try parse(source)
    }

    private static func parse(_ source: Model.Source) throws -> Model {
        do {
            return try Model(from: source)
        } catch let error as IntegrationError {
            // The error of a model inside of this one, or a cancellation.
            throw error
        } catch let error as CancellationError {
            throw error
        } catch {
            throw IntegrationError.model(error)
        }
    }
}

extension DataProvider {
    /// Returns a provider of the model that is made from this one's answer. The same as `provider >>>> Model.self`.
    ///
    /// A stream stays a stream: each value becomes a model. An error of the model is thrown as
    /// ``IntegrationError/model(_:)``.
    ///
    /// - Parameters:
    ///   - model: The type of the model.
    ///   - parsing: Whether the model is made off the caller's actor (the default) or on it.
    public func model<Model: DataModel>(
        _ model: Model.Type, parsing: ModelParsing = .concurrent
    ) -> SequenceDataProvider<Self, ModelDataProvider<Model>> where Model.Source == Output {
        then(ModelDataProvider(parsing: parsing))
    }
}
