import Foundation
import Synchronization

/// Keeps an app's services: each is made when it is first asked for, and is the same for everybody from then on.
///
/// ```swift
/// let services = ServiceRegistry()
/// services.register { _ in HTTPClient() }
/// services.register(lifetime: .scope) { services in Inbox(client: try services.service()) }
///
/// let session = services.makeScope()
/// let inbox: Inbox = try session.service()
/// session.close()
/// ```
///
/// A service goes by its type, which may be a protocol: `register((any UserLoading).self) { … }`. To register a type again
/// replaces it, as a test does.
///
/// Good on any actor and thread. Services are made one at a time, and the thread that makes one goes through all that it
/// needs; so what makes a service must not wait for another thread that asks for one.
public final class ServiceRegistry: Sendable {
    /// How long a service lives.
    public enum Lifetime: Sendable, Hashable {
        /// As long as the registry that it was registered with.
        case registry
        /// As long as the scope that asks for it. Each scope has its own.
        case scope
    }

    private final class Recipe: Sendable {
        let name: String
        let lifetime: Lifetime
        let make: @Sendable (ServiceRegistry) throws -> any Sendable

        init(_ name: String, _ lifetime: Lifetime, _ make: @escaping @Sendable (ServiceRegistry) throws -> any Sendable)
        {
            self.name = name
            self.lifetime = lifetime
            self.make = make
        }
    }

    private struct State {
        var recipes: [ObjectIdentifier: Recipe] = [:]
        /// The services that are given out, with what they were made by: one that has been replaced since is made anew.
        var made: [ObjectIdentifier: (recipe: Recipe, service: any Sendable)] = [:]
        /// What was made, in that order.
        var services: [any Sendable] = []
        var scopes: [Scope] = []
        var isClosed = false
    }

    private struct Scope {
        weak let registry: ServiceRegistry?
    }

    /// What all scopes of a registry share.
    private final class Workshop: Sendable {
        /// Held while services are made. A thread that makes one comes back for what that one needs.
        let lock = NSRecursiveLock()
        /// The types that are being made, each for the one before it. Changed by whoever holds the lock.
        let path = Mutex<[(key: ObjectIdentifier, name: String)]>([])
    }

    private let parent: ServiceRegistry?
    private let workshop: Workshop
    private let state = Mutex(State())

    /// Makes a registry without services.
    public init() {
        parent = nil
        workshop = Workshop()
    }

    private init(parent: ServiceRegistry) {
        self.parent = parent
        workshop = parent.workshop
    }

    deinit {
        close()
    }

    // MARK: Registering

    /// Registers how a service is made. One that was registered before is replaced for whoever asks from now on.
    ///
    /// - Parameters:
    ///   - type: What the service is asked for by.
    ///   - lifetime: How long one service is the same.
    ///   - make: Makes the service, and gets the registry to ask for what it needs: that of the service's own lifetime.
    public func register<Service: Sendable>(
        _ type: Service.Type = Service.self, lifetime: Lifetime = .registry,
        _ make: @escaping @Sendable (ServiceRegistry) throws -> Service
    ) {
        let recipe = Recipe("\(type)", lifetime, make)
        // What it replaces goes outside of the lock: what that holds may ask for a service as it goes.
        _ = state.withLock { $0.recipes.updateValue(recipe, forKey: ObjectIdentifier(type)) }
    }

    // MARK: Asking

    /// The service of a type, made now if it is asked for the first time.
    ///
    /// Throws a ``ServiceError`` if there is none to be had, and what the service's own making throws. One that could not be
    /// made is tried again the next time.
    public func service<Service: Sendable>(_ type: Service.Type = Service.self) throws -> Service {
        let key = ObjectIdentifier(type)
        let name = "\(type)"
        let (home, recipe) = try find(key, name, for: self)
        // A service of this type is all that was ever made for its key.
        if let service = try (home.made(key, recipe) ?? make(key, name)) as? Service { return service }
        throw ServiceError.missing(name)
    }

    /// How a service is made, and the registry that keeps it.
    private func find(
        _ key: ObjectIdentifier, _ name: String, for scope: ServiceRegistry
    ) throws -> (home: ServiceRegistry, recipe: Recipe) {
        let (recipe, isClosed) = state.withLock { ($0.recipes[key], $0.isClosed) }
        guard !isClosed else { throw ServiceError.closed(name) }
        guard let recipe else {
            guard let parent else { throw ServiceError.missing(name) }
            return try parent.find(key, name, for: scope)
        }
        guard recipe.lifetime == .scope else { return (self, recipe) }
        guard scope.parent != nil else { throw ServiceError.outOfScope(name) }
        return (scope, recipe)
    }

    /// Makes a service, in turn with all others.
    private func make(_ key: ObjectIdentifier, _ name: String) throws -> any Sendable {
        workshop.lock.lock()
        defer { workshop.lock.unlock() }
        // While this thread waited, another one may have made the service, or replaced how it is made.
        let (home, recipe) = try find(key, name, for: self)
        if let service = home.made(key, recipe) { return service }
        try enter(key, name)
        defer { leave() }
        let service = try recipe.make(home)
        guard home.keep(service, key, recipe) else {
            (service as? any AppService)?.stop()
            throw ServiceError.closed(name)
        }
        return service
    }

    /// Takes a service that has been made. Returns false if the registry has been closed.
    private func keep(_ service: any Sendable, _ key: ObjectIdentifier, _ recipe: Recipe) -> Bool {
        let (isKept, replaced) = state.withLock { state -> (Bool, (Recipe, any Sendable)?) in
            guard !state.isClosed else { return (false, nil) }
            state.services.append(service)
            return (true, state.made.updateValue((recipe, service), forKey: key))
        }
        // Goes outside of the lock, as above.
        withExtendedLifetime(replaced) {}
        return isKept
    }

    private func made(_ key: ObjectIdentifier, _ recipe: Recipe) -> (any Sendable)? {
        state.withLock { state in
            state.made[key].flatMap { $0.recipe === recipe ? $0.service : nil }
        }
    }

    private func enter(_ key: ObjectIdentifier, _ name: String) throws {
        try workshop.path.withLock { path in
            if let start = path.firstIndex(where: { $0.key == key }) {
                throw ServiceError.recursive(path[start...].map(\.name) + [name])
            }
            path.append((key, name))
        }
    }

    private func leave() {
        workshop.path.withLock { path in
            if !path.isEmpty { path.removeLast() }
        }
    }

    // MARK: Scopes

    /// Opens a scope, for a signed-in user perhaps: services with the lifetime of a scope are made in it, and all others are
    /// those of this registry. The scope may have registrations of its own, which go before.
    public func makeScope() -> ServiceRegistry {
        let scope = ServiceRegistry(parent: self)
        let isClosed = state.withLock { state in
            state.scopes.removeAll { $0.registry == nil }
            state.scopes.append(Scope(registry: scope))
            return state.isClosed
        }
        if isClosed { scope.close() }
        return scope
    }

    /// Drops all services and how they are made, scopes first and then the other way round in which they were made, and stops
    /// those that are an ``AppService``. From then on, asking throws ``ServiceError/closed(_:)``. Closing twice does nothing.
    ///
    /// A scope is also closed when nothing holds it any more.
    public func close() {
        let dropped = state.withLock { state -> State? in
            guard !state.isClosed else { return nil }
            defer {
                state = State()
                state.isClosed = true
            }
            return state
        }
        guard let dropped else { return }
        for scope in dropped.scopes { scope.registry?.close() }
        for service in dropped.services.reversed() { (service as? any AppService)?.stop() }
    }
}
