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
/// need one another to be made are an error, also where different threads and registries make them. What can't be seen
/// is a making that stands still until a task of its own has the service: that waits for ever. Work that a making begins
/// and that asks for a service in `async` code is no part of it: it may ask for the service itself, and waits until that
/// is there, or makes it if the making failed.
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
        var listed: Set<ObjectIdentifier> = []
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

    /// What is being made anywhere: registries may need one another.
    private static let making = Mutex(ServiceMaking())

    /// How many registries have each service to stop. The last one that ends does.
    private static let shares = Mutex<[ObjectIdentifier: Int]>([:])

    private let parent: ServiceRegistry?
    private let state = Mutex(State())

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
        _ = state.withLock { $0.isClosed ? nil : $0.recipes.updateValue(recipe, forKey: ObjectIdentifier(type)) }
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
                if try wake(at: slot, on: ObjectIdentifier(Thread.current), { gate.open() }) { gate.wait() }
            // Never told to who doesn't suspend.
            case .elsewhere: continue
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
                        if try !wake(at: slot, on: nil, { continuation.resume() }) {
                            continuation.resume()
                        }
                    } catch {
                        continuation.resume(throwing: error)
                    }
                }
            case .elsewhere:
                // On a thread that is nobody's: it may have to stand still.
                return try await withCheckedThrowingContinuation { continuation in
                    Thread.detachNewThread { continuation.resume(with: Result { try self.service(type) }) }
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
        /// It is to be asked for on another thread.
        case elsewhere
    }

    private enum Step {
        case tell(Answer)
        case make(ServiceMaking.Slot, ServiceRegistry)
    }

    /// Finds a service, makes it, or says that somebody else does.
    ///
    /// - Parameter suspends: Whether whoever asks waits on no thread.
    private func ask(_ key: ObjectIdentifier, _ name: String, suspends: Bool) throws -> Answer {
        // Goes outside of the lock: it may have been replaced meanwhile, and what it holds may ask for a service.
        var found: Recipe?
        defer { withExtendedLifetime(found) {} }
        // Decided at once: nobody makes a service by what has been replaced, or makes it twice.
        let step = try Self.making.withLock { making -> Step in
            let (home, recipe) = try find(key, name, for: self, &found)
            if let service = home.made(key, recipe) { return .tell(.made(service)) }
            let slot = ServiceMaking.Slot(home: ObjectIdentifier(home), type: key)
            switch making.begin(slot, name, on: ObjectIdentifier(Thread.current), suspends: suspends) {
            case .make:
                guard home.beginMaking() else {
                    _ = making.end(slot)
                    throw ServiceRegistryError.closed(name)
                }
                return .make(slot, home)
            case .wait: return .tell(.wait(slot))
            case .elsewhere: return .tell(.elsewhere)
            case .recursive(let names): throw ServiceRegistryError.recursive(names)
            }
        }
        switch step {
        case .tell(let answer): return answer
        case .make(let slot, let home):
            defer {
                for wake in Self.making.withLock({ $0.end(slot) }) { wake() }
                home.endMaking()
            }
            guard let found else { throw ServiceRegistryError.missing(name) }
            return .made(try home.make(key, name, found))
        }
    }

    /// Wakes somebody when a service has been made, or could not be. Returns false if that is so already.
    private func wake(
        at slot: ServiceMaking.Slot, on thread: ServiceMaking.Maker?, _ body: @escaping @Sendable () -> Void
    ) throws -> Bool {
        switch Self.making.withLock({ $0.wait(for: slot, on: thread, body) }) {
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
        if let service = service as? any AppService { list(service) }
        let (isKept, replaced) = state.withLock { state -> (Bool, (Recipe, any Sendable)?) in
            guard !state.isClosed else { return (false, nil) }
            return (true, state.made.updateValue((recipe, service), forKey: key))
        }
        // Goes outside of the lock, as above.
        withExtendedLifetime(replaced) {}
        guard isKept else { throw ServiceRegistryError.closed(name) }
        return service
    }

    /// Takes note of a service that is to be stopped: one that goes by several types once, with what it was made for
    /// first.
    private func list(_ service: any AppService) {
        let object = ObjectIdentifier(service)
        // Counted first: another registry that has it may end meanwhile.
        Self.shares.withLock { $0[object, default: 0] += 1 }
        let isNew = state.withLock { state in
            guard state.listed.insert(object).inserted else { return false }
            state.services.append(service)
            return true
        }
        if !isNew { _ = Self.giveUp(object) }
    }

    /// Gives up a share in a service. Returns whether it was the last one.
    private static func giveUp(_ object: ObjectIdentifier) -> Bool {
        shares.withLock { shares in
            let others = shares[object, default: 1] - 1
            shares[object] = others > 0 ? others : nil
            return others == 0
        }
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
        for service in services.reversed() where Self.giveUp(ObjectIdentifier(service)) { service.stop() }
        parent?.endScope(ObjectIdentifier(self))
    }
}
