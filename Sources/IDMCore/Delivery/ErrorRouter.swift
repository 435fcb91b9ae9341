/// Passes errors on to handlers that have a priority and a condition.
///
/// ```swift
/// let errors = ErrorRouter()
/// errors.on(SessionError.self, priority: 10) { error in login.show(because: error) }
/// errors.on { error, retry in banner.show(error, retry: retry) }
///
/// users.errorHandler(errors)
/// ```
///
/// Handlers with a higher priority come first; handlers of equal priority run in the order in which they were added.
/// The handler of `otherwise` receives the errors that no other handler accepts. A handler for one type of
/// error also finds that type inside a ``WrappingError``, such as ``IntegrationError/model(_:)``.
@MainActor
public final class ErrorRouter: ErrorHandling {
    /// The number of handlers that receive an error.
    public enum Delivery: Sendable {
        /// The first handler that accepts the error, and no other.
        case chain
        /// Every handler that accepts the error.
        case broadcast
    }

    /// A handler for errors of one type, and the action that makes the failed call again. Nil if there is no call.
    public typealias Handler<Failure> = @MainActor (_ error: Failure, _ retry: RetryAction?) -> Void

    private struct Route {
        let priority: Int
        /// Handles the error if the route accepts it. Returns whether it did.
        let handle: @MainActor (any Error, RetryAction?) -> Bool
        /// Returns true once the sink of the route has been released.
        let isReleased: @MainActor () -> Bool
    }

    private let delivery: Delivery
    private var routes: [Route] = []
    private var fallback: Handler<any Error> = { _, _ in }

    /// Creates a router without handlers.
    public init(_ delivery: Delivery = .chain) { self.delivery = delivery }

    // MARK: Handlers

    /// Adds a handler for errors of any type, which can make the failed call again.
    ///
    /// - Parameters:
    ///   - priority: Handlers with a higher priority come first.
    ///   - condition: Returns whether the handler accepts an error.
    ///   - handler: Handles the error. Receives nil instead of an action if the error doesn't come from a call.
    @discardableResult
    public func on(
        priority: Int = 0, when condition: @escaping @MainActor (any Error) -> Bool = { _ in true },
        _ handler: @escaping Handler<any Error>
    ) -> Self {
        add(priority) { error, retry in
            guard condition(error) else { return false }
            handler(error, retry)
            return true
        }
    }

    /// Adds a handler for errors of any type, without the action.
    @discardableResult
    public func on(
        priority: Int = 0, when condition: @escaping @MainActor (any Error) -> Bool = { _ in true },
        _ handler: @escaping @MainActor (any Error) -> Void
    ) -> Self {
        on(priority: priority, when: condition) { error, _ in handler(error) }
    }

    /// Adds a handler for errors of one type, which can make the failed call again.
    ///
    /// - Parameters:
    ///   - type: The type of the error, or of an error inside a ``WrappingError``.
    ///   - priority: Handlers with a higher priority come first.
    ///   - condition: Returns whether the handler accepts an error of the type.
    ///   - handler: Handles the error. Receives nil instead of an action if the error doesn't come from a call.
    @discardableResult
    public func on<Failure: Error>(
        _ type: Failure.Type, priority: Int = 0, when condition: @escaping @MainActor (Failure) -> Bool = { _ in true },
        _ handler: @escaping Handler<Failure>
    ) -> Self {
        add(priority) { error, retry in
            guard let error = error.failure(as: type), condition(error) else { return false }
            handler(error, retry)
            return true
        }
    }

    /// Adds a handler for errors of one type, without the action.
    @discardableResult
    public func on<Failure: Error>(
        _ type: Failure.Type, priority: Int = 0, when condition: @escaping @MainActor (Failure) -> Bool = { _ in true },
        _ handler: @escaping @MainActor (Failure) -> Void
    ) -> Self {
        on(type, priority: priority, when: condition) { error, _ in handler(error) }
    }

    /// Adds a sink, which is held weakly. A released sink accepts no errors.
    @discardableResult
    public func on(
        _ sink: some ErrorHandling, priority: Int = 0,
        when condition: @escaping @MainActor (any Error) -> Bool = { _ in true }
    ) -> Self {
        add(priority, isReleased: { [weak sink] in sink == nil }) { [weak sink] error, retry in
            guard let sink, condition(error) else { return false }
            sink.handle(error: error, retry: retry)
            return true
        }
    }

    /// Sets the handler for errors that no other handler accepts. A second one replaces the first.
    @discardableResult
    public func otherwise(_ handler: @escaping Handler<any Error>) -> Self {
        fallback = handler
        return self
    }

    /// Sets the handler for errors that no other handler accepts, without the action.
    @discardableResult
    public func otherwise(_ handler: @escaping @MainActor (any Error) -> Void) -> Self {
        otherwise { error, _ in handler(error) }
    }

    /// Passes an error that doesn't come from a call to the handlers that accept it.
    public func handle(error: any Error) { handle(error: error, retry: nil) }

    /// Passes an error to the handlers that accept it. A handler that is added by a handler receives the next error.
    public func handle(error: any Error, retry: RetryAction?) {
        var isHandled = false
        for route in routes {
            if isHandled && delivery == .chain { return }
            if route.handle(error, retry) { isHandled = true }
        }
        if !isHandled { fallback(error, retry) }
    }

    private func add(
        _ priority: Int, isReleased: @escaping @MainActor () -> Bool = { false },
        _ handle: @escaping @MainActor (any Error, RetryAction?) -> Bool
    ) -> Self {
        // A router may outlive many screens.
        routes.removeAll { $0.isReleased() }
        let index = routes.firstIndex { $0.priority < priority } ?? routes.endIndex
        routes.insert(Route(priority: priority, handle: handle, isReleased: isReleased), at: index)
        return self
    }
}

extension IntegrationOutcome {
    /// Returns the first error of a type among the error of a failure and the errors that it wraps.
    ///
    /// See ``Swift/Error/failure(as:)``. Nil for a success and for a cancelled call.
    public func failure<Failure: Error>(as type: Failure.Type) -> Failure? { error?.failure(as: type) }
}
