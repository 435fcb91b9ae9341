/// A screen that shows that something is loading. Calls and integrators hold it weakly.
///
/// A sink may be attached to several calls and integrators. It receives one ``beginLoading()`` when the first of these
/// calls starts and one ``finishLoading()`` when the last running one has completed.
@MainActor
public protocol LoadingHandling: AnyObject, Sendable {
    /// Shows that loading has begun.
    func beginLoading()
    /// Shows that loading has finished. Called once for each ``beginLoading()``.
    func finishLoading()
}

/// A screen, or an ``ErrorRouter``, that receives errors. Calls and integrators hold it weakly.
@MainActor
public protocol ErrorHandling: AnyObject, Sendable {
    /// Handles the error that ended a call.
    func handle(error: any Error)

    /// Handles the error that ended a call, and can make the call again.
    ///
    /// The default implementation drops the action and calls ``handle(error:)``. Implement this method to offer a Retry
    /// button.
    ///
    /// - Parameters:
    ///   - error: The error that ended a call.
    ///   - retry: Makes the same call again. Nil if the error comes from elsewhere.
    func handle(error: any Error, retry: RetryAction?)
}

extension ErrorHandling {
    /// Handles the error without an action.
    public func handle(error: any Error, retry: RetryAction?) { handle(error: error) }
}

/// Makes a failed call again: with the same input, and with all handlers, retries and chained calls of that call.
///
/// The action of a Retry button. Each use makes a call of its own, under the executing type of the integrator. The
/// action holds the provider and the handlers of the call, so release it together with the button.
public typealias RetryAction = @MainActor @Sendable () -> Void

/// A screen that receives values. Calls and integrators hold it weakly.
@MainActor
public protocol DataHandling<Value>: AnyObject, Sendable {
    /// The type of the values.
    associatedtype Value: Sendable

    /// Handles a value that a call delivered.
    func handle(data: Value)
}

/// A screen that shows progress. Calls and integrators hold it weakly.
@MainActor
public protocol ProgressHandling: AnyObject, Sendable {
    /// Shows the progress of a running call.
    func handle(progress: IntegrationProgress)
}
