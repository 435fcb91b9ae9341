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
/// In `async` code, ask with `try await session.service()`, which suspends instead of blocking the thread.
///
/// A service goes by its type, which may be a protocol: `register((any UserLoading).self) { … }`. To register a type
/// again replaces it, as a test does.
///
/// Good on any actor and thread. A service is made by whoever asks first, with no lock held, and may ask for others as
/// it is made. Who asks for the same one meanwhile waits for it: a task suspends, and a thread outside of tasks, or in
/// code that isn't `async`, stands still until it is there. Different services are made at the same time. Services that
/// need one another to be made are an error, also where different threads make them.
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
        /// What is to be stopped, in the order in which it was made.
        var services: [any AppService] = []
        /// How many are being made.
        var makings = 0
        /// Those that have not come to their end. Never asked for a scope under a lock: it may be the last to hold that.
        var scopes: [ObjectIdentifier: Scope] = [:]
        var isClosed = false
        var isOver = false
    }

    private struct Scope {
        weak let registry: ServiceRegistry?
    }

    /// What all scopes of a registry share.
    private final class Workshop: Sendable {
        let making = Mutex(ServiceMaking())
        /// The services that are to be stopped, so that one that goes by several types is stopped once.
        let listed = Mutex<Set<ObjectIdentifier>>([])
    }

    /// What is made by whoever started the code that runs here, and on which thread.
    @TaskLocal private static var making: (path: ServiceMaking.Path, thread: ObjectIdentifier)?

    /// What is made below this on the stack. A service is made in one go on one thread: a task that it starts meanwhile
    /// is on another, or comes later, and makes nothing, unless it runs at once.
    private static var path: ServiceMaking.Path {
        making.flatMap { $0.thread == ObjectIdentifier(Thread.current) ? $0.path : nil } ?? ServiceMaking.Path()
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
    /// Stands still while another thread makes the service; in a task, the `async` form suspends.
    ///
    /// Throws a ``ServiceRegistryError`` if there is none to be had, and what the service's own making throws. One that
    /// could not be made is tried again the next time, and by those who wait.
    public func service<Service: Sendable>(_ type: Service.Type = Service.self) throws -> Service {
        let (key, name) = (ObjectIdentifier(type), "\(type)")
        while true {
            switch try ask(key, name, suspends: false) {
            case .made(let service): return try cast(service, name)
            case .wait(let slot):
                let gate = ThreadGate()
                if try wake(at: slot, on: Self.path, { gate.open() }) { gate.wait() }
            }
        }
    }

    /// The service of a type, made now if it is asked for the first time. Suspends while it is made elsewhere, also if
    /// the task is cancelled meanwhile.
    ///
    /// Throws a ``ServiceRegistryError`` if there is none to be had, and what the service's own making throws. One that
    /// could not be made is tried again the next time, and by those who wait.
    public func service<Service: Sendable>(_ type: Service.Type = Service.self) async throws -> Service {
        let (key, name) = (ObjectIdentifier(type), "\(type)")
        while true {
            switch try ask(key, name, suspends: true) {
            case .made(let service): return try cast(service, name)
            case .wait(let slot):
                try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                    do {
                        if try !wake(at: slot, on: ServiceMaking.Path(), { continuation.resume() }) {
                            continuation.resume()
                        }
                    } catch {
                        continuation.resume(throwing: error)
                    }
                }
            }
        }
    }

    /// A service of this type is all that was ever made for its key.
    private func cast<Service>(_ service: any Sendable, _ name: String) throws -> Service {
        guard let service = service as? Service else { throw ServiceRegistryError.missing(name) }
        return service
    }

    private enum Answer {
        case made(any Sendable)
        case wait(ServiceMaking.Slot)
    }

    private enum Step {
        case made(any Sendable)
        case wait(ServiceMaking.Slot)
        case make(ServiceMaking.Slot, ServiceRegistry, ServiceMaking.Path)
        case recursive([String])
    }

    /// Finds a service, makes it, or says that somebody else does.
    ///
    /// - Parameter suspends: Whether whoever asks waits on no thread.
    private func ask(_ key: ObjectIdentifier, _ name: String, suspends: Bool) throws -> Answer {
        // Goes outside of the lock: it may have been replaced meanwhile, and what it holds may ask for a service.
        var found: Recipe?
        defer { withExtendedLifetime(found) {} }
        // Decided at once: nobody makes a service by what has been replaced, or makes it twice.
        let step = try workshop.making.withLock { making -> Step in
            let (home, recipe) = try find(key, name, for: self, &found)
            if let service = home.made(key, recipe) { return .made(service) }
            let slot = ServiceMaking.Slot(home: ObjectIdentifier(home), type: key)
            switch making.begin(slot, name, on: Self.path, suspends: suspends) {
            case .make(let path):
                guard home.beginMaking() else {
                    _ = making.end(slot)
                    throw ServiceRegistryError.closed(name)
                }
                return .make(slot, home, path)
            case .wait: return .wait(slot)
            case .recursive(let names): return .recursive(names)
            }
        }
        switch step {
        case .made(let service): return .made(service)
        case .wait(let slot): return .wait(slot)
        case .recursive(let names): throw ServiceRegistryError.recursive(names)
        case .make(let slot, let home, let path):
            defer {
                for wake in workshop.making.withLock({ $0.end(slot) }) { wake() }
                home.endMaking()
            }
            guard let found else { throw ServiceRegistryError.missing(name) }
            return .made(
                try Self.$making.withValue((path, ObjectIdentifier(Thread.current))) {
                    try home.make(key, name, found)
                })
        }
    }

    /// Wakes somebody when a service has been made, or could not be. Returns false if that is so already.
    private func wake(
        at slot: ServiceMaking.Slot, on path: ServiceMaking.Path, _ body: @escaping @Sendable () -> Void
    ) throws -> Bool {
        switch workshop.making.withLock({ $0.wait(for: slot, on: path, body) }) {
        case .added: return true
        case .over: return false
        case .recursive(let names): throw ServiceRegistryError.recursive(names)
        }
    }

    /// How a service is made, and the registry that keeps it.
    ///
    /// - Parameter found: Holds how it is made, whatever comes of this.
    private func find(
        _ key: ObjectIdentifier, _ name: String, for scope: ServiceRegistry, _ found: inout Recipe?
    ) throws -> (home: ServiceRegistry, recipe: Recipe) {
        let isClosed = state.withLock { state in
            found = state.recipes[key]
            return state.isClosed
        }
        guard !isClosed else { throw ServiceRegistryError.closed(name) }
        guard let recipe = found else {
            guard let parent else { throw ServiceRegistryError.missing(name) }
            return try parent.find(key, name, for: scope, &found)
        }
        guard recipe.lifetime == .scope else { return (self, recipe) }
        guard scope.parent != nil else { throw ServiceRegistryError.outOfScope(name) }
        return (scope, recipe)
    }

    private func make(_ key: ObjectIdentifier, _ name: String, _ recipe: Recipe) throws -> any Sendable {
        let service = try recipe.make(self)
        // One that goes by several types stops with what it was made for first, and once.
        if let service = service as? any AppService, list(service) {
            state.withLock { $0.services.append(service) }
        }
        let (isKept, replaced) = state.withLock { state -> (Bool, (Recipe, any Sendable)?) in
            guard !state.isClosed else { return (false, nil) }
            return (true, state.made.updateValue((recipe, service), forKey: key))
        }
        // Goes outside of the lock, as above.
        withExtendedLifetime(replaced) {}
        guard isKept else { throw ServiceRegistryError.closed(name) }
        return service
    }

    /// Takes note of a service that is to be stopped. Returns false if it is known, here or in another scope.
    private func list(_ service: any AppService) -> Bool {
        guard let object = Self.object(service) else { return true }
        return workshop.listed.withLock { $0.insert(ObjectIdentifier(object)).inserted }
    }

    /// A service as an object, by which it is known again. Nil for one that is a value.
    private static func object(_ service: any Sendable) -> AnyObject? {
        type(of: service as Any) is AnyClass ? service as AnyObject : nil
    }

    private func made(_ key: ObjectIdentifier, _ recipe: Recipe) -> (any Sendable)? {
        state.withLock { state in
            state.made[key].flatMap { $0.recipe === recipe ? $0.service : nil }
        }
    }

    // MARK: Scopes

    /// Opens a scope, for a signed-in user perhaps: services with the lifetime of a scope are made in it, and all
    /// others are those of this registry. The scope may have registrations of its own, which go before.
    public func makeScope() -> ServiceRegistry {
        let scope = ServiceRegistry(parent: self)
        let isClosed = state.withLock { state in
            if !state.isClosed { state.scopes[ObjectIdentifier(scope)] = Scope(registry: scope) }
            return state.isClosed
        }
        if isClosed { scope.close() }
        return scope
    }

    /// Drops all services and how they are made: those of its scopes first, then its own, the last one made first.
    /// Those that are an ``AppService`` are stopped. From then on, asking throws ``ServiceRegistryError/closed(_:)``.
    /// Closing twice does nothing.
    ///
    /// While a service is still being made, nothing is stopped that it may have been made with: whoever makes it stops
    /// that, and the service, as soon as it is there.
    ///
    /// A scope is also closed when nothing holds it any more. A service of its own that keeps the scope, to ask for
    /// others later, holds it.
    public func close() {
        var dropped = State()
        let isClosed = state.withLock { state in
            guard !state.isClosed else { return true }
            state.isClosed = true
            swap(&state.recipes, &dropped.recipes)
            swap(&state.made, &dropped.made)
            dropped.scopes = state.scopes
            return false
        }
        guard !isClosed else { return }
        for scope in dropped.scopes.values { scope.registry?.close() }
        end()
    }

    /// Returns false if it is closed.
    private func beginMaking() -> Bool {
        state.withLock { state in
            if !state.isClosed { state.makings += 1 }
            return !state.isClosed
        }
    }

    private func endMaking() {
        state.withLock { $0.makings -= 1 }
        end()
    }

    private func endScope(_ scope: ObjectIdentifier) {
        _ = state.withLock { $0.scopes.removeValue(forKey: scope) }
        end()
    }

    /// Stops what was made, if this is closed and nobody needs it any more: nothing is made, and no scope is left.
    private func end() {
        var services: [any AppService] = []
        let isOver = state.withLock { state in
            guard state.isClosed, state.makings == 0, state.scopes.isEmpty, !state.isOver else { return false }
            state.isOver = true
            swap(&state.services, &services)
            return true
        }
        guard isOver else { return }
        for service in services.reversed() { service.stop() }
        let objects = services.compactMap { Self.object($0) }
        workshop.listed.withLock { $0.subtract(objects.map { ObjectIdentifier($0) }) }
        parent?.endScope(ObjectIdentifier(self))
    }
}
