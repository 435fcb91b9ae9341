import Foundation
import IDMCore
import IDMOperations
import Synchronization
import Testing

/// Services that can't be had.
extension ServiceRegistryTests {
    var henFirst: [String] { ["Hen", "Egg", "Hen"].map { "IDMOperationsTests.ServiceRegistryTests.\($0)" } }
    var eggFirst: [String] { ["Egg", "Hen", "Egg"].map { "IDMOperationsTests.ServiceRegistryTests.\($0)" } }

    @Test func `a service that nobody has registered is named`() {
        #expect(throws: ServiceRegistryError.missing("IDMOperationsTests.ServiceRegistryTests.Client")) {
            try ServiceRegistry().service(Client.self)
        }
    }

    @Test func `services of one name are told apart by what they stand in`() {
        let services = ServiceRegistry()
        services.register { registry -> Mail.Sender in
            _ = try registry.service(Feed.Sender.self)
            return Mail.Sender()
        }
        services.register { registry -> Feed.Sender in
            _ = try registry.service(Mail.Sender.self)
            return Feed.Sender()
        }
        let error = #expect(throws: ServiceRegistryError.self) { try services.service(Mail.Sender.self) }
        #expect(
            error?.description == """
                The services need one another to be made: IDMOperationsTests.ServiceRegistryTests.Mail.Sender → \
                IDMOperationsTests.ServiceRegistryTests.Feed.Sender → \
                IDMOperationsTests.ServiceRegistryTests.Mail.Sender.
                """)
    }

    private enum Mail {
        struct Sender: Sendable {}
    }

    private enum Feed {
        struct Sender: Sendable {}
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
        #expect(throws: ServiceRegistryError.recursive(henFirst)) { try services.service(Hen.self) }
        #expect(throws: ServiceRegistryError.recursive(eggFirst)) { try services.service(Egg.self) }
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

    @Test func `registries that need one another are told, on one thread and on several`() async throws {
        struct Hen: Sendable {}
        struct Egg: Sendable {}
        for isOnOneThread in [true, false] {
            let (hens, eggs) = (ServiceRegistry(), ServiceRegistry())
            let (hen, egg) = (Gate(), Gate())
            if isOnOneThread { for gate in [hen, egg] { gate.open() } }
            hens.register { _ -> Hen in
                hen.open()
                egg.wait()
                _ = try eggs.service(Egg.self)
                return Hen()
            }
            eggs.register { _ -> Egg in
                egg.open()
                hen.wait()
                _ = try hens.service(Hen.self)
                return Egg()
            }
            let (first, second) = (Kept<ServiceRegistryError>(), Kept<ServiceRegistryError>())
            Thread.detachNewThread {
                do { _ = try hens.service(Hen.self) } catch { first.keep(error as? ServiceRegistryError) }
                if isOnOneThread { second.keep(nil) }
            }
            if !isOnOneThread {
                Thread.detachNewThread {
                    do { _ = try eggs.service(Egg.self) } catch { second.keep(error as? ServiceRegistryError) }
                }
            }
            let errors = [await first.value(), await second.value()]
            let rounds: [ServiceRegistryError?] = [
                .recursive(henFirst), .recursive(eggFirst),
            ]
            #expect(rounds.contains(errors[0]))
            #expect(isOnOneThread || rounds.contains(errors[1]))
            for registry in [hens, eggs] { registry.close() }
        }
    }

    @Test func `a need that goes through another registry and closes no circle is met`() async throws {
        struct Far: Sendable {}
        struct Near: Sendable {}
        struct Own: Sendable {}
        let (one, other) = (ServiceRegistry(), ServiceRegistry())
        let (farBegan, farGoes, nearBegan, nearGoes) = (Gate(), Gate(), Gate(), Gate())
        other.register { _ -> Far in
            farBegan.open()
            farGoes.wait()
            return Far()
        }
        other.register { registry -> Near in
            nearBegan.open()
            nearGoes.wait()
            _ = try registry.service(Far.self)
            return Near()
        }
        one.register { _ -> Own in
            _ = try other.service(Near.self)
            return Own()
        }
        let (far, near, own) = (Kept<Far>(), Kept<Near>(), Kept<Own>())
        far.ask(other)
        await farBegan.opened()
        near.ask(other)
        await nearBegan.opened()
        own.ask(one)
        nearGoes.open()
        farGoes.open()
        let isThere = [await far.value() != nil, await near.value() != nil, await own.value() != nil]
        #expect(isThere == [true, true, true])
    }

    @Test func `work that a failed making has begun may have the service later`() async throws {
        let services = ServiceRegistry()
        let isOnline = Atomic(false)
        let goesOn = Gate()
        let work = Mutex<Task<Client, any Error>?>(nil)
        services.register { registry -> Client in
            if isOnline.load(ordering: .relaxed) { return Client() }
            let task = Task {
                await goesOn.opened()
                return try await registry.service(Client.self)
            }
            work.withLock { $0 = task }
            throw Offline()
        }
        #expect(throws: Offline.self) { try services.service(Client.self) }
        isOnline.store(true, ordering: .relaxed)
        goesOn.open()
        let client = try await work.withLock { $0 }?.value
        #expect(try await services.service(Client.self) === client)
    }

    @Test func `what is registered with a closed registry is let go at once`() throws {
        weak var kept: ServiceRegistry?
        do {
            let services = ServiceRegistry()
            kept = services
            services.close()
            services.register { _ in withExtendedLifetime(services) { Client() } }
            #expect(throws: ServiceRegistryError.closed("IDMOperationsTests.ServiceRegistryTests.Client")) {
                try services.service(Client.self)
            }
        }
        #expect(kept == nil)
    }
}
