/// A model that makes itself from what a provider fetched, and knows nothing else.
///
/// ```swift
/// struct Users: DataModel {
///     let names: [String]
///     init(from source: [String]) throws {
///         names = source.sorted()
///     }
/// }
/// ```
///
/// The initializer runs off the caller's actor unless ``ModelParsing/inline`` is asked for. An error that it throws
/// reaches the caller as ``IntegrationError/model(_:)``, so that it can be told from an error of the provider.
public protocol DataModel<Source>: Sendable {
    /// What the model is made from.
    associatedtype Source: Sendable

    /// Makes the model, or throws if the source doesn't hold what it needs.
    init(from source: Source) throws
}
