internal import Foundation
internal import IDMCore

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
/// In `async` code, ask with `try await session.service()`, which suspends instead of blocking the thread.
///
/// A service goes by its type, which may be a protocol: `register((any UserLoading).self) { … }`. To register a type
/// again replaces it, as a test does.
///
/// Good on any actor and thread. A service is made by whoever asks first, where that runs, with no lock held, and may
/// ask for others as it is made. Who asks for the same one meanwhile waits for it: a task suspends, and a thread
/// outside of tasks, or in code that isn't `async`, stands still until it is there. Different services are made at the
/// same time. Services that need one another to be made are an error, also where different threads and registries make
/// them.
///
/// Work that a making begins and that asks for a service in `async` code is no part of it: it may ask for the service
/// itself. It goes on when that making has ended, and makes what isn't there then. So a making that stands still until
/// work of its own has a service waits for ever, and nobody can see that.
///
/// A making knows nothing of actors. One that needs the main actor is registered where that is known to be there, and
/// says so: `register { _ in MainActor.assumeIsolated { Player() } }` is for services that are first asked for on it.
public final class ServiceRegistry: Sendable {
    /// How long a service lives.
    public enum Lifetime: Sendable, Hashable {
        /// As long as the registry that it was registered with.
        case registry
        /// As long as the scope that asks for it. Each scope has its own.
        case scope
    }

    /// How a service is made.
    final class Recipe: Sendable {
        let lifetime: Lifetime
        let make: @Sendable (ServiceRegistry) throws -> any Sendable

        init(_ lifetime: Lifetime, _ make: @escaping @Sendable (ServiceRegistry) throws -> any Sendable) {
            self.lifetime = lifetime
            self.make = make
        }
    }

    struct State {
        var recipes: [ServiceKey: Recipe] = [:]
        /// The services that are given out, with what they were made by: one that has been replaced since is made anew.
        var made: [ServiceKey: (recipe: Recipe, service: any Sendable)] = [:]
        /// What is to be stopped, in the order in which it was made.
        var services: [any AppService] = []
        var listed: Set<ObjectIdentifier> = []
        /// Those that have not come to their end. Never asked for a scope under a lock: it may be the last to hold
        /// that.
        var scopes: [ObjectIdentifier: Scope] = [:]
        var life = RegistryLife()
    }

    struct Scope {
        weak let registry: ServiceRegistry?
    }

    let parent: ServiceRegistry?
    let state = Locked(State())

    /// Makes a registry without services.
    public init() {
        parent = nil
    }

    private init(parent: ServiceRegistry) {
        self.parent = parent
    }

    deinit {
        close()
    }

    // MARK: Registering

    /// Registers how a service is made. One that was registered before is replaced for whoever asks from now on. A
    /// service that it has made goes on working, and is stopped when the registry is closed, as all are.
    ///
    /// - Parameters:
    ///   - type: What the service is asked for by.
    ///   - lifetime: How long one service is the same.
    ///   - make: Makes the service, and gets the registry to ask for what it needs: that of the service's own lifetime.
    public func register<Service: Sendable>(
        _ type: Service.Type = Service.self, lifetime: Lifetime = .registry,
        _ make: @escaping @Sendable (ServiceRegistry) throws -> Service
    ) {
        let recipe = Recipe(lifetime, make)
        // What it replaces goes outside of the lock: what that holds may ask for a service as it goes.
        _ = state.withLock { $0.life.isClosed ? nil : $0.recipes.updateValue(recipe, forKey: ServiceKey(type)) }
    }

    // MARK: Asking

    /// The service of a type, made now if it is asked for the first time.
    ///
    /// Stands still while another thread makes the service; in a task, the `async` form suspends.
    ///
    /// Throws a ``ServiceRegistryError`` if there is none to be had, and what the service's own making throws. One that
    /// could not be made is tried again the next time, and by those who wait.
    public func service<Service: Sendable>(_ type: Service.Type = Service.self) throws -> Service {
        let key = ServiceKey(type)
        while true {
            switch try ask(key, suspends: false) {
            case .made(let service): return try cast(service, key)
            case .wait(let slot): try wait(for: slot)
            }
        }
    }

    /// The service of a type, made now if it is asked for the first time. Suspends while it is made elsewhere, also if
    /// the task is cancelled meanwhile.
    ///
    /// Throws a ``ServiceRegistryError`` if there is none to be had, and what the service's own making throws. One that
    /// could not be made is tried again the next time, and by those who wait.
    public func service<Service: Sendable>(_ type: Service.Type = Service.self) async throws -> Service {
        let key = ServiceKey(type)
        while true {
            switch try ask(key, suspends: true) {
            case .made(let service): return try cast(service, key)
            case .wait(let slot): await suspend(for: slot)
            }
        }
    }

    /// A service of this type is all that was ever made for its key.
    private func cast<Service>(_ service: any Sendable, _ key: ServiceKey) throws -> Service {
        guard let service = service as? Service else { throw ServiceRegistryError.missing(key.name) }
        return service
    }

    // MARK: Scopes

    /// Opens a scope, for a signed-in user perhaps: services with the lifetime of a scope are made in it, and all
    /// others are those of this registry. The scope may have registrations of its own, which go before.
    public func makeScope() -> ServiceRegistry {
        let scope = ServiceRegistry(parent: self)
        let isOpen = state.withLock { state in
            let isOpen = state.life.begin()
            if isOpen { state.scopes[ObjectIdentifier(scope)] = Scope(registry: scope) }
            return isOpen
        }
        if !isOpen { scope.close() }
        return scope
    }

    /// Drops all services and how they are made, and stops those that are an ``AppService``: those of its scopes first,
    /// then its own, the last one made first. From then on, asking throws ``ServiceRegistryError/closed(_:)``.
    /// Closing twice does nothing.
    ///
    /// While a service is still being made, or a scope closed on another thread, nothing is stopped that those may have
    /// been made with: the other thread does it then, as soon as it is done. One service that several scopes give out
    /// is stopped with the last of them.
    ///
    /// A scope is also closed when nothing holds it any more. A service of its own that keeps the scope, to ask for
    /// others later, holds it.
    public func close() {
        var dropped = State()
        let isEnd = state.withLock { state -> Bool? in
            guard let isEnd = state.life.close() else { return nil }
            swap(&state.recipes, &dropped.recipes)
            swap(&state.made, &dropped.made)
            dropped.scopes = state.scopes
            return isEnd
        }
        for scope in dropped.scopes.values { scope.registry?.close() }
        if isEnd == true { stop() }
    }
}
