internal import Foundation
internal import IDMCore

/// How services are found and made, each by one thread.
extension ServiceRegistry {
    /// What is being made anywhere: registries may need one another.
    private static let making = Locked(ServiceMaking())

    enum Answer {
        case made(any Sendable)
        /// It is to be asked for again when this has been made, or could not be.
        case wait(ServiceMaking.Slot)
    }

    /// Why a service isn't to be had. Its name takes its time, and is made where no lock is held.
    private enum Lack: Error {
        case missing(ServiceKey), outOfScope(ServiceKey), closed(ServiceKey)
        case recursive([ServiceKey])

        var error: ServiceRegistryError {
            switch self {
            case .missing(let key): .missing(key.name)
            case .outOfScope(let key): .outOfScope(key.name)
            case .closed(let key): .closed(key.name)
            case .recursive(let keys): .recursive(keys.map(\.name))
            }
        }
    }

    private enum Step {
        case tell(Answer)
        case make(ServiceMaking.Slot, ServiceRegistry, Recipe)
    }

    /// Finds a service, makes it, or says that somebody else does.
    ///
    /// - Parameter suspends: Whether whoever asks waits on no thread.
    func ask(_ key: ServiceKey, suspends: Bool) throws -> Answer {
        // Goes outside of the lock: it may have been replaced meanwhile, and what it holds may ask for a service.
        var found: Recipe?
        defer { withExtendedLifetime(found) {} }
        let step: Step
        do throws(Lack) {
            step = try decide(key, suspends, &found)
        } catch {
            throw error.error
        }
        switch step {
        case .tell(let answer): return answer
        case .make(let slot, let home, let recipe):
            defer {
                for wake in Self.making.withLock({ $0.end(slot) }) { wake() }
                home.endNeed()
            }
            return .made(try home.make(key, recipe))
        }
    }

    /// - Parameter found: Holds how the service is made, whatever comes of this.
    private func decide(_ key: ServiceKey, _ suspends: Bool, _ found: inout Recipe?) throws(Lack) -> Step {
        // At once: nobody makes a service by what has been replaced, or makes it twice.
        try Self.making.withLock { making throws(Lack) -> Step in
            let (home, recipe) = try find(key, for: self, &found)
            if let service = home.made(key, recipe) { return .tell(.made(service)) }
            let slot = ServiceMaking.Slot(home: ObjectIdentifier(home), key: key)
            switch making.begin(slot, on: ObjectIdentifier(Thread.current), suspends: suspends) {
            case .make:
                guard home.state.withLock({ $0.life.begin() }) else {
                    _ = making.end(slot)
                    throw .closed(key)
                }
                return .make(slot, home, recipe)
            case .wait(let slot): return .tell(.wait(slot))
            case .recursive(let keys): throw .recursive(keys)
            }
        }
    }

    /// Stands still until a service has been made, or could not be.
    func wait(for slot: ServiceMaking.Slot) throws {
        let gate = ThreadGate()
        switch Self.making.withLock({ $0.wait(for: slot, on: ObjectIdentifier(Thread.current)) { gate.open() } }) {
        case .added: gate.wait()
        case .over: break
        case .recursive(let keys): throw Lack.recursive(keys).error
        }
    }

    /// Suspends until a service has been made, or could not be.
    func suspend(for slot: ServiceMaking.Slot) async {
        await LibraryTask.wait { continuation in
            let waits = Self.making.withLock { $0.suspend(for: slot) { continuation.resume() } }
            if !waits { continuation.resume() }
        }
    }

    /// How a service is made, and the registry that keeps it.
    ///
    /// - Parameter found: Holds how it is made, whatever comes of this.
    private func find(
        _ key: ServiceKey, for scope: ServiceRegistry, _ found: inout Recipe?
    ) throws(Lack) -> (home: ServiceRegistry, recipe: Recipe) {
        let isClosed = state.withLock { state in
            found = state.recipes[key]
            return state.life.isClosed
        }
        guard !isClosed else { throw .closed(key) }
        guard let recipe = found else {
            guard let parent else { throw .missing(key) }
            return try parent.find(key, for: scope, &found)
        }
        guard recipe.lifetime == .scope else { return (self, recipe) }
        guard scope.parent != nil else { throw .outOfScope(key) }
        return (scope, recipe)
    }

    private func made(_ key: ServiceKey, _ recipe: Recipe) -> (any Sendable)? {
        state.withLock { state in
            state.made[key].flatMap { $0.recipe === recipe ? $0.service : nil }
        }
    }

    private func make(_ key: ServiceKey, _ recipe: Recipe) throws -> any Sendable {
        let service = try recipe.make(self)
        if let service = service as? any AppService { list(service) }
        let (isKept, replaced) = state.withLock { state -> (Bool, (Recipe, any Sendable)?) in
            guard !state.life.isClosed else { return (false, nil) }
            return (true, state.made.updateValue((recipe, service), forKey: key))
        }
        // Goes outside of the lock, as above.
        withExtendedLifetime(replaced) {}
        guard isKept else { throw ServiceRegistryError.closed(key.name) }
        return service
    }
}
