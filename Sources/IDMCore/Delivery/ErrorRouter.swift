/// Gives errors to those who want them: handlers with a priority and a condition, as a broadcast or as a chain.
///
/// ```swift
/// let errors = ErrorRouter(.chain)
/// errors.on(SessionError.self, priority: 10) { error in login.show(because: error) }
/// errors.on { error in banner.show(error) }
///
/// users.errorHandler(errors)
/// ```
///
/// Handlers of a higher priority come first, and among equals those that were added first. An error that nobody wants
/// goes to the handler of ``otherwise(_:)``. A handler for one type of error also gets it from inside
/// ``IntegrationError/model(_:)``.
@MainActor
public final class ErrorRouter: ErrorHandling {
    /// Who gets an error.
    public struct Delivery: Sendable, Hashable {
        enum Kind: Sendable { case chain, broadcast }

        let kind: Kind

        /// The first handler that wants it, and no other.
        public static let chain = Delivery(kind: .chain)
        /// Every handler that wants it.
        public static let broadcast = Delivery(kind: .broadcast)
    }

    private struct Route {
        let priority: Int
        /// Takes the error if it wants it, and says whether it did.
        let take: @MainActor (any Error) -> Bool
        /// Whether it will never want anything again.
        let isGone: @MainActor () -> Bool
    }

    private let delivery: Delivery
    private var routes: [Route] = []
    private var unclaimed: @MainActor (any Error) -> Void = { _ in }

    /// Makes a router without handlers.
    public init(_ delivery: Delivery = .chain) {
        self.delivery = delivery
    }

    /// Adds a handler for errors of any type.
    ///
    /// - Parameters:
    ///   - priority: Higher comes first.
    ///   - condition: Which errors it wants.
    ///   - handler: Takes the error.
    @discardableResult
    public func on(
        priority: Int = 0, when condition: @escaping @MainActor (any Error) -> Bool = { _ in true },
        _ handler: @escaping @MainActor (any Error) -> Void
    ) -> Self {
        add(priority) { error in
            guard condition(error) else { return false }
            handler(error)
            return true
        }
    }

    /// Adds a handler for one type of error.
    ///
    /// - Parameters:
    ///   - type: The type of error, also inside ``IntegrationError/model(_:)``.
    ///   - priority: Higher comes first.
    ///   - condition: Which errors of the type it wants.
    ///   - handler: Takes the error.
    @discardableResult
    public func on<Failure: Error>(
        _ type: Failure.Type, priority: Int = 0, when condition: @escaping @MainActor (Failure) -> Bool = { _ in true },
        _ handler: @escaping @MainActor (Failure) -> Void
    ) -> Self {
        add(priority) { error in
            guard let error = Self.find(type, in: error), condition(error) else { return false }
            handler(error)
            return true
        }
    }

    /// Adds a sink, which is held weakly. Once it has gone, it wants nothing.
    @discardableResult
    public func on(
        _ sink: some ErrorHandling, priority: Int = 0,
        when condition: @escaping @MainActor (any Error) -> Bool = { _ in true }
    ) -> Self {
        add(priority, isGone: { [weak sink] in sink == nil }) { [weak sink] error in
            guard let sink, condition(error) else { return false }
            sink.handle(error: error)
            return true
        }
    }

    /// Sets the handler for errors that nobody wants. There is one; setting it again replaces it.
    @discardableResult
    public func otherwise(_ handler: @escaping @MainActor (any Error) -> Void) -> Self {
        unclaimed = handler
        return self
    }

    /// Gives an error to those who want it. Handlers may change the router; that counts from the next error on.
    public func handle(error: any Error) {
        var isTaken = false
        for route in routes {
            if isTaken && delivery == .chain { return }
            if route.take(error) { isTaken = true }
        }
        if !isTaken { unclaimed(error) }
    }

    private func add(
        _ priority: Int, isGone: @escaping @MainActor () -> Bool = { false },
        _ take: @escaping @MainActor (any Error) -> Bool
    ) -> Self {
        // A router may outlive many screens.
        routes.removeAll { $0.isGone() }
        let place = routes.firstIndex { $0.priority < priority } ?? routes.endIndex
        routes.insert(Route(priority: priority, take: take, isGone: isGone), at: place)
        return self
    }

    private static func find<Failure: Error>(_ type: Failure.Type, in error: any Error) -> Failure? {
        if let error = error as? Failure { return error }
        if case IntegrationError.model(let inner) = error { return find(type, in: inner) }
        return nil
    }
}
