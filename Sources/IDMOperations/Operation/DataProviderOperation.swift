import Foundation
public import IDMCore

/// An operation around a provider: asks it once, and carries what it answers.
///
/// ```swift
/// let load = DataProviderOperation(UserDataProvider(), "apple")
///     .onSuccess { users in list.show(users) }
///     .onError { error in banner.show(error) }
/// queue.addOperation(load)
/// ```
///
/// The values of a stream are heard one by one, and the result is the last.
public final class DataProviderOperation<Input: Sendable, Output: Sendable>:
    ResultOperation<Output>, @unchecked Sendable
{
    // Unchecked as its superclass is: all that it adds is a constant that is Sendable.
    private let provider: any DataProvider<Input, Output>

    /// Makes an operation that asks the provider with this input.
    public convenience init(_ provider: some DataProvider<Input, Output>, _ input: Input) {
        self.init(provider, asking: Integrator(provider).prepareCall(input).erased)
    }

    /// Makes an operation around a provider that needs no input.
    public convenience init(_ provider: some DataProvider<Input, Output>) where Input == Void {
        self.init(provider, ())
    }

    /// Makes an operation that takes its input from what another one has fetched. See ``input(from:_:)``.
    public convenience init<Other>(
        _ provider: some DataProvider<Input, Output>, from other: ResultOperation<Other>,
        _ transform: @escaping @Sendable (Other) throws -> Input
    ) {
        self.init(provider, asking: Self.asking(provider, other, transform))
        addDependency(other)
    }

    private init(_ provider: any DataProvider<Input, Output>, asking call: IntegrationCall<any Sendable>) {
        self.provider = provider
        super.init(erased: call)
    }

    /// Takes the input from what another operation has fetched, and waits for that one. Returns this operation.
    ///
    /// If the other one has not succeeded, this one fails with ``OperationError/noInput(from:because:)``; with
    /// `require(_:)` beside it, it is cancelled instead.
    ///
    /// - Parameters:
    ///   - other: The operation whose result is taken. Replaces the input that was given before; an operation that this
    ///     was to come from is still waited for.
    ///   - transform: Makes the input. Called once, when the operation begins. One that comes after that changes
    ///     nothing.
    @discardableResult
    public func input<Other>(
        from other: ResultOperation<Other>, _ transform: @escaping @Sendable (Other) throws -> Input
    ) -> Self {
        addDependency(other)
        ask(as: Self.asking(provider, other, transform))
        return self
    }

    /// A call that takes its input from what another operation has fetched.
    private static func asking<Other>(
        _ provider: some DataProvider<Input, Output>, _ other: ResultOperation<Other>,
        _ transform: @escaping @Sendable (Other) throws -> Input
    ) -> IntegrationCall<any Sendable> {
        let late = provider.mapInput { (_: Void) in
            switch other.outcome {
            case .success(let value): try transform(value)
            case .failure(let error): throw OperationError.noInput(from: other.label, because: error)
            case .cancelled, nil: throw OperationError.noInput(from: other.label, because: nil)
            }
        }
        return Integrator(late).prepareCall().erased
    }
}

extension Operation {
    /// What the operation is called in errors and pictures.
    var label: String { name ?? "\(type(of: self))" }
}
