import IDMOperations
import Synchronization
import Testing

/// Services that can't be had.
extension ServiceRegistryTests {
    @Test func `a service that nobody has registered is named`() {
        #expect(throws: ServiceRegistryError.missing("Client")) { try ServiceRegistry().service(Client.self) }
    }

    @Test func `services that need one another are named in a row, and the registry still works`() throws {
        struct Hen: Sendable {}
        struct Egg: Sendable {}
        let services = ServiceRegistry()
        services.register { _ in Client() }
        services.register { registry -> Hen in
            _ = try registry.service(Egg.self)
            return Hen()
        }
        services.register { registry -> Egg in
            _ = try registry.service(Hen.self)
            return Egg()
        }
        #expect(throws: ServiceRegistryError.recursive(["Hen", "Egg", "Hen"])) { try services.service(Hen.self) }
        #expect(throws: ServiceRegistryError.recursive(["Egg", "Hen", "Egg"])) { try services.service(Egg.self) }
        _ = try services.service(Client.self)
    }

    @Test func `one that could not be made is tried again`() throws {
        let services = ServiceRegistry()
        let tries = Atomic(0)
        services.register { _ in
            if tries.add(1, ordering: .relaxed).newValue == 1 { throw Offline() }
            return Client()
        }
        #expect(throws: Offline.self) { try services.service(Client.self) }
        _ = try services.service(Client.self)
    }
}
