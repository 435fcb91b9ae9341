// The names of IDMCore 1.x and 2.x. They keep compiling; <doc:ComingFromIDMCore> has the steps for old conformances.

/// The old name of ``CallbackDataProvider``.
@available(*, deprecated, renamed: "CallbackDataProvider")
public typealias DataProviderProtocol = CallbackDataProvider

/// The old name of ``DataModel``.
@available(*, deprecated, renamed: "DataModel")
public typealias ModelProtocol = DataModel

/// The old name of an ``Integrator`` with a model.
@available(*, deprecated, renamed: "Integrator")
public typealias MagicalIntegrator = Integrator

/// The old name of an ``Integrator`` without a model.
@available(*, deprecated, renamed: "Integrator")
public typealias AmazingIntegrator = Integrator

extension Integrator {
    /// The old form of ``init(_:model:executing:parsing:lane:clock:)``.
    @available(*, deprecated, renamed: "init(_:model:executing:)")
    public convenience init<Provider: DataProvider>(
        dataProvider: Provider, modelType: Output.Type, executingType: ExecutingType = .default
    ) where Provider.Input == Input, Output: DataModel, Output.Source == Provider.Output {
        self.init(dataProvider, model: modelType, executing: executingType)
    }

    /// The old form of ``init(_:executing:lane:clock:)``.
    @_disfavoredOverload
    @available(*, deprecated, renamed: "init(_:executing:)")
    public convenience init(
        dataProvider: some DataProvider<Input, Output>, executingType: ExecutingType = .default
    ) {
        self.init(dataProvider, executing: executingType)
    }

    /// The old form of ``prepareCall(_:)``.
    @available(*, deprecated, renamed: "prepareCall(_:)")
    public func prepareCall(parameters: Input) -> IntegrationCall<Output> {
        prepareCall(parameters)
    }
}

extension ExecutingType {
    /// The old spelling of ``latest``.
    @available(*, deprecated, renamed: "latest")
    public static var lastest: ExecutingType { latest }
}

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
}
