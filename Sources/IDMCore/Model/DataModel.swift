/// A model that is made from the data of a provider.
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
/// The initializer runs off the caller's actor, or on it with ``ModelParsing/inline``. An error that it throws reaches
/// the caller as ``IntegrationError/model(_:)``, which distinguishes it from an error of the provider.
public protocol DataModel<Source>: Sendable {
    /// The data that the model is made from.
    associatedtype Source: Sendable

    /// Creates the model. Throws if `source` lacks required data.
    init(from source: Source) throws
}

/// The place where a model is made: off the caller's actor, or on it.
public enum ModelParsing: Sendable {
    /// Off the caller's actor. The default: a large answer never blocks a screen.
    case concurrent
    /// On the caller's actor, in the turn in which the answer arrived. For models that cost next to nothing, and for
    /// values that must be shown without a turn in between.
    case inline
}
