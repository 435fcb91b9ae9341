/// Shows that something is loading. Held weakly by what it is attached to.
@MainActor
public protocol LoadingHandling: AnyObject, Sendable {
    /// A call has started.
    func beginLoading()
    /// A call that had started has ended. Comes once for each beginning.
    func finishLoading()
}

/// Takes errors. Held weakly by what it is attached to.
@MainActor
public protocol ErrorHandling: AnyObject, Sendable {
    /// A call ended with an error.
    func handle(error: any Error)
}

/// Takes values. Held weakly by what it is attached to.
@MainActor
public protocol DataHandling<Value>: AnyObject, Sendable {
    /// What it takes.
    associatedtype Value: Sendable

    /// A call has delivered a value.
    func handle(data: Value)
}

/// Shows how far a call has come. Held weakly by what it is attached to.
@MainActor
public protocol ProgressHandling: AnyObject, Sendable {
    /// A call has come so far.
    func handle(progress: IntegrationProgress)
}
