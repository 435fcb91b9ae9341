internal import IDMCore

/// What is stopped when a registry comes to its end.
extension ServiceRegistry {
    /// How many registries have each service to stop. The last one that ends does.
    private static let shares = Locked<[ObjectIdentifier: Int]>([:])

    /// Takes note of a service that is to be stopped: one that goes by several types once, with what it was made for
    /// first.
    func list(_ service: any AppService) {
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

    /// A making is over. What was made is stopped if nobody needs it any more.
    func endNeed() {
        if state.withLock({ $0.life.end() }) { stop() }
    }

    /// A scope is over. One that was opened too late was never one that needs anything.
    private func end(_ scope: ServiceRegistry) {
        let isEnd = state.withLock { state in
            state.scopes.removeValue(forKey: ObjectIdentifier(scope)) != nil && state.life.end()
        }
        if isEnd { stop() }
    }

    /// Stops what was made. To be called once.
    func stop() {
        var services: [any AppService] = []
        state.withLock { swap(&$0.services, &services) }
        for service in services.reversed() where Self.giveUp(ObjectIdentifier(service)) { service.stop() }
        parent?.end(self)
    }
}
