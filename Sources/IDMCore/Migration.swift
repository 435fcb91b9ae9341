// The names and the protocols of IDMCore 1.x and 2.x, deprecated. <doc:ComingFromIDMCore> lists what they cover.

// MARK: Providers

/// A provider of IDMCore 1.x and 2.x. Conforming types are data providers without further code.
///
/// Input and output are optional, as they were: `Input` is `ParameterType?`, and `Output` is `DataType?`. The first answer
/// counts. An answer without success throws its error; without an error it counts as a cancellation.
///
/// Implement one of the two methods. They differ in the completion only, which was optional in 1.x.
@available(*, deprecated, message: "Conform to CallbackDataProvider, or to DataProvider.")
public protocol DataProviderProtocol<ParameterType, DataType>: DataProvider
where Input == ParameterType?, Output == DataType? {
    /// The type of the parameters of a request.
    associatedtype ParameterType: Sendable
    /// The type of the data that a request returns.
    associatedtype DataType: Sendable

    /// Starts a request, and returns a closure that cancels it.
    @discardableResult
    func request(
        parameters: ParameterType?, completion: @escaping (Bool, DataType?, (any Error)?) -> Void
    ) -> (() -> Void)?

    /// Starts a request, and returns a closure that cancels it.
    @discardableResult
    func request(
        parameters: ParameterType?, completion: ((Bool, DataType?, (any Error)?) -> Void)?
    ) -> (() -> Void)?
}

@available(*, deprecated)
extension DataProviderProtocol {
    /// Calls the method with the optional completion.
    @discardableResult
    public func request(
        parameters: ParameterType?, completion: @escaping (Bool, DataType?, (any Error)?) -> Void
    ) -> (() -> Void)? {
        let completion: ((Bool, DataType?, (any Error)?) -> Void)? = completion
        return request(parameters: parameters, completion: completion)
    }

    /// Calls the method with the completion that is not optional.
    @discardableResult
    public func request(
        parameters: ParameterType?, completion: ((Bool, DataType?, (any Error)?) -> Void)?
    ) -> (() -> Void)? {
        let completion: (Bool, DataType?, (any Error)?) -> Void = completion ?? { _, _, _ in }
        return request(parameters: parameters, completion: completion)
    }

    /// Makes the request, and waits for its first answer.
    public func request(_ input: Input) async throws -> Output {
        try await CompletionProvider(base: self).request(input)
    }
}

/// Runs an old provider as a callback provider, which handles repeated, missing and late answers.
@available(*, deprecated)
private struct CompletionProvider<Base: DataProviderProtocol>: CallbackDataProvider {
    let base: Base

    func request(
        _ input: Base.Input, completion: @escaping @Sendable (Result<Base.Output, any Error>) -> Void
    ) -> CancelHandler? {
        let answer: @Sendable (Bool, Base.DataType?, (any Error)?) -> Void = { isSuccess, data, error in
            completion(isSuccess ? .success(data) : .failure(error ?? CancellationError()))
        }
        guard let stop = base.request(parameters: input, completion: answer) else { return nil }
        let cancel = OldCancelHandler(stop)
        return { cancel() }
    }
}

/// A cancel handler that was written before closures had to be `Sendable`: called at most once, by one thread.
private final class OldCancelHandler: Sendable {
    private let stop: Locked<(() -> Void)?>

    init(_ stop: sending @escaping () -> Void) { self.stop = Locked(stop) }

    func callAsFunction() {
        let stop = stop.withLock { stop in
            let taken = stop
            stop = nil
            return taken
        }
        stop?()
    }
}

// MARK: Models

/// A model of IDMCore 1.x and 2.x.
@available(*, deprecated, message: "Conform to DataModel.")
public protocol ModelProtocol<DataType>: Sendable {
    /// The type of the data that the model is made from.
    associatedtype DataType: Sendable

    /// Makes the model, or returns nil if it can't be made.
    init?(from data: DataType?)

    /// The error of a model that was made but isn't valid. Nil by default.
    var invalidDataError: (any Error)? { get }
}

@available(*, deprecated)
extension ModelProtocol {
    /// Nil: the model is valid.
    public var invalidDataError: (any Error)? { nil }
}

/// Makes an old model as a new one.
@available(*, deprecated)
private struct OldModel<Model: ModelProtocol>: DataModel {
    let model: Model

    init(from source: Model.DataType?) throws {
        guard let model = Model(from: source) else { throw NoModel(type: "\(Model.self)") }
        if let error = model.invalidDataError { throw error }
        self.model = model
    }
}

/// The error of an initializer that returned nil.
private struct NoModel: Error, CustomStringConvertible {
    let type: String

    var description: String { "\(type).init?(from:) returned nil" }
}

// MARK: Integrators

/// The old name of an ``Integrator`` with a model.
@available(*, deprecated, renamed: "Integrator")
public typealias MagicalIntegrator = Integrator

/// The old name of an ``Integrator`` without a model.
@available(*, deprecated, renamed: "Integrator")
public typealias AmazingIntegrator = Integrator

extension Integrator {
    /// Creates an integrator for an old provider and an old model. Its output is optional, as it was, and never nil.
    @available(*, deprecated, renamed: "init(_:model:executing:)")
    public convenience init<Provider: DataProviderProtocol, Model: ModelProtocol>(
        dataProvider: Provider, modelType: Model.Type, executingType: ExecutingType = .default
    ) where Provider.ParameterType? == Input, Model? == Output, Provider.DataType == Model.DataType {
        self.init(dataProvider.model(OldModel<Model>.self).map { $0.model as Model? }, executing: executingType)
    }

    /// The old form of ``init(_:model:executing:parsing:cancelsWhenReleased:lane:clock:)``.
    @available(*, deprecated, renamed: "init(_:model:executing:)")
    public convenience init<Provider: DataProvider>(
        dataProvider: Provider, modelType: Output.Type, executingType: ExecutingType = .default
    ) where Provider.Input == Input, Output: DataModel, Output.Source == Provider.Output {
        self.init(dataProvider, model: modelType, executing: executingType)
    }

    /// The old form of ``init(_:executing:cancelsWhenReleased:lane:clock:)``.
    @_disfavoredOverload
    @available(*, deprecated, renamed: "init(_:executing:)")
    public convenience init(
        dataProvider: some DataProvider<Input, Output>, executingType: ExecutingType = .default
    ) {
        self.init(dataProvider, executing: executingType)
    }

    /// The old form of ``prepareCall(_:)``.
    @available(*, deprecated, renamed: "prepareCall(_:)")
    public func prepareCall(parameters: Input) -> IntegrationCall<Output> { prepareCall(parameters) }

    /// Prepares a call without parameters.
    @available(*, deprecated, message: "Pass nil.")
    public func prepareCall() -> IntegrationCall<Output> where Input: ExpressibleByNilLiteral {
        prepareCall(nil)
    }
}

extension ExecutingType {
    /// The old spelling of ``latest``.
    @available(*, deprecated, renamed: "latest")
    public static var lastest: ExecutingType { latest }
}

// MARK: Calls

extension IntegrationCall {
    /// The old spelling of ``forwardSuccess(to:_:)``.
    @available(*, deprecated, renamed: "forwardSuccess(to:_:)")
    public consuming func fowardSuccess<Next>(
        to integrator: Integrator<Output, Next>,
        _ configure: (IntegrationCall<Next>) -> IntegrationCall<Next> = { $0 }
    ) -> IntegrationCall {
        forwardSuccess(to: integrator, configure)
    }

    /// The old spelling of ``forwardError(to:_:)``.
    @available(*, deprecated, renamed: "forwardError(to:_:)")
    public consuming func fowardError<Next>(
        to integrator: Integrator<any Error, Next>,
        _ configure: (IntegrationCall<Next>) -> IntegrationCall<Next> = { $0 }
    ) -> IntegrationCall {
        forwardError(to: integrator, configure)
    }

    /// The old form of ``thenRecall(with:_:)``.
    @available(*, deprecated, renamed: "thenRecall(with:_:)")
    public consuming func thenRecall<Input>(
        with integrator: Integrator<Input, Output>, parameters: Input
    ) -> IntegrationCall {
        thenRecall(with: integrator, parameters)
    }

    /// Runs another integrator of the same model without parameters. See ``thenRecall(with:_:)``.
    @available(*, deprecated, message: "Pass nil.")
    public consuming func thenRecall<Input: ExpressibleByNilLiteral>(
        with integrator: Integrator<Input, Output>
    ) -> IntegrationCall {
        thenRecall(with: integrator, nil)
    }
}
