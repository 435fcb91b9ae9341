import Foundation
import IDMCore
import IDMOperations
import IDMTesting
import Synchronization
import TestSupport
import Testing

@Suite("The registry of services", .timeLimit(.ample))
struct ServiceRegistryTests {
    private final class Client: Sendable {}

    private final class Inbox: AppService {
        let client: Client
        let stops: Log
        init(client: Client, stops: Log) {
            self.client = client
            self.stops = stops
        }
        func stop() { stops.add("inbox") }
    }

    private final class Outbox: AppService {
        let stops: Log
        init(stops: Log) { self.stops = stops }
        func stop() { stops.add("outbox") }
    }

    private protocol Loading: Sendable { var name: String { get } }
    private struct Real: Loading { let name = "real" }
    private struct Stub: Loading { let name = "stub" }

    // MARK: Made once

    @Test func `a service is made when it is first asked for, and once`() throws {
        let services = ServiceRegistry()
        let made = Atomic(0)
        services.register { _ in
            made.add(1, ordering: .relaxed)
            return Client()
        }
        #expect(made.load(ordering: .relaxed) == 0)
        let first: Client = try services.service()
        #expect(try services.service(Client.self) === first)
        #expect(made.load(ordering: .relaxed) == 1)
    }

    @Test func `many threads that ask at once get the same one`() {
        let services = ServiceRegistry()
        let made = Atomic(0)
        services.register { _ in
            made.add(1, ordering: .relaxed)
            return Client()
        }
        let seen = Mutex<Set<ObjectIdentifier>>([])
        DispatchQueue.concurrentPerform(iterations: 500) { _ in
            guard let client = try? services.service(Client.self) else { return }
            seen.withLock { _ = $0.insert(ObjectIdentifier(client)) }
        }
        #expect(seen.withLock { $0.count } == 1)
        #expect(made.load(ordering: .relaxed) == 1)
    }

    @Test func `a service gets what it needs from the registry`() throws {
        let services = ServiceRegistry()
        let stops = Log()
        services.register { _ in Client() }
        services.register { Inbox(client: try $0.service(), stops: stops) }
        #expect(try services.service(Inbox.self).client === services.service(Client.self))
    }

    @Test func `a protocol is registered as any other type, and a test replaces what is behind it`() throws {
        let services = ServiceRegistry()
        services.register((any Loading).self) { _ in Real() }
        #expect(try services.service((any Loading).self).name == "real")
        services.register((any Loading).self) { _ in Stub() }
        #expect(try services.service((any Loading).self).name == "stub")
    }

    @Test func `one that is replaced while threads wait for it is not made by what has been replaced`() {
        struct Slow: Sendable {}
        for _ in 0..<50 {
            let services = ServiceRegistry()
            let stops = Log()
            let asking = DispatchGroup()
            services.register { _ in Outbox(stops: stops) }
            let made = Atomic(0)
            services.register { registry -> Slow in
                for _ in 0..<4 {
                    DispatchQueue.global().async(group: asking) { _ = try? services.service(Outbox.self) }
                }
                registry.register { _ in
                    made.add(1, ordering: .relaxed)
                    return Outbox(stops: stops)
                }
                _ = try registry.service(Outbox.self)
                return Slow()
            }
            _ = try? services.service(Slow.self)
            asking.wait()
            _ = try? services.service(Outbox.self)
            #expect(made.load(ordering: .relaxed) == 1)
        }
    }

    @Test func `what makes a service goes with the registry's end, and may ask for one as it is replaced`() throws {
        final class Canary: Sendable {
            let gone: @Sendable () -> Void
            init(_ gone: @escaping @Sendable () -> Void) { self.gone = gone }
            deinit { gone() }
        }
        weak var kept: ServiceRegistry?
        let stops = Log()
        do {
            let services = ServiceRegistry()
            kept = services
            services.register { _ in Client() }
            do {
                let canary = Canary {
                    stops.add("asked")
                    _ = try? services.service(Client.self)
                }
                services.register { _ in withExtendedLifetime(canary) { Outbox(stops: stops) } }
            }
            // A registration that holds its own registry.
            services.register { _ in withExtendedLifetime(services) { Outbox(stops: stops) } }
            #expect(stops.entries == ["asked"])
            services.close()
        }
        #expect(kept == nil)
    }

    @Test func `tasks that ask at once get the same one, and threads that ask meanwhile do too`() async throws {
        let services = ServiceRegistry()
        let made = Atomic(0)
        let began = Gate()
        let goesOn = Gate()
        services.register { _ in
            made.add(1, ordering: .relaxed)
            began.open()
            goesOn.wait()
            return Client()
        }
        let thread = Kept<Client>()
        let first = Kept<Client>()
        Thread.detachNewThread { first.keep(try? services.service(Client.self)) }
        await began.opened()
        Thread.detachNewThread { thread.keep(try? services.service(Client.self)) }
        let tasks = (0..<100).map { _ in Task { try await services.service(Client.self) } }
        // They wait on no thread: these go through the pool as well.
        for _ in 0..<200 { await Task {}.value }
        goesOn.open()
        let client = await first.value()
        #expect(await thread.value() === client)
        for task in tasks { #expect(try await task.value === client) }
        #expect(made.load(ordering: .relaxed) == 1)
    }

    @Test func `services are made side by side, and a slow one is in nobody's way`() async throws {
        struct Slow: Sendable {}
        let services = ServiceRegistry()
        let began = Gate()
        let goesOn = Gate()
        services.register { _ -> Slow in
            began.open()
            goesOn.wait()
            return Slow()
        }
        services.register { _ in Client() }
        let slow = Kept<Slow>()
        Thread.detachNewThread { slow.keep(try? services.service(Slow.self)) }
        await began.opened()
        _ = try await services.service(Client.self)
        goesOn.open()
        #expect(await slow.value() != nil)
    }

    @Test func `those that wait for one that could not be made try again themselves`() async throws {
        let services = ServiceRegistry()
        let tries = Atomic(0)
        let began = Gate()
        let goesOn = Gate()
        services.register { _ in
            if tries.add(1, ordering: .relaxed).newValue == 1 {
                began.open()
                goesOn.wait()
                throw Offline()
            }
            return Client()
        }
        let first = Kept<Client>()
        Thread.detachNewThread { first.keep(try? services.service(Client.self)) }
        await began.opened()
        let tasks = (0..<10).map { _ in Task { try await services.service(Client.self) } }
        goesOn.open()
        #expect(await first.value() == nil)
        var clients: [Client] = []
        for task in tasks { clients.append(try await task.value) }
        #expect(clients.allSatisfy { $0 === clients[0] })
        #expect(tries.load(ordering: .relaxed) == 2)
    }

    @Test func `threads that need one another's services are told, and none waits for ever`() async throws {
        struct Hen: Sendable {}
        struct Egg: Sendable {}
        let services = ServiceRegistry()
        let (hen, egg) = (Gate(), Gate())
        services.register { registry -> Hen in
            hen.open()
            egg.wait()
            _ = try registry.service(Egg.self)
            return Hen()
        }
        services.register { registry -> Egg in
            egg.open()
            hen.wait()
            _ = try registry.service(Hen.self)
            return Egg()
        }
        let errors = (Kept<ServiceRegistryError>(), Kept<ServiceRegistryError>())
        func ask<Service: Sendable>(_ type: Service.Type, _ error: Kept<ServiceRegistryError>) {
            Thread.detachNewThread {
                do { _ = try services.service(Service.self) } catch let other {
                    error.keep(other as? ServiceRegistryError)
                }
            }
        }
        ask(Hen.self, errors.0)
        ask(Egg.self, errors.1)
        for error in [await errors.0.value(), await errors.1.value()] {
            guard case .recursive(let names) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(names.first == names.last && Set(names) == ["Hen", "Egg"] && names.count == 3)
        }
    }

    @Test func `a task that a service has started asks for it afterwards`() async throws {
        final class Poller: Sendable {
            let asking: Task<Poller, any Error>
            init(_ services: ServiceRegistry, _ made: Gate) {
                asking = Task {
                    await made.opened()
                    return try await services.service(Poller.self)
                }
            }
        }
        let services = ServiceRegistry()
        let made = Gate()
        services.register { Poller($0, made) }
        let poller = try await services.service(Poller.self)
        made.open()
        #expect(try await poller.asking.value === poller)
    }

    @Test func `a task that a service starts may ask for it while it is made`() async throws {
        final class Poller: Sendable {
            let asking: Task<Poller, any Error>
            init(_ services: ServiceRegistry, _ asks: Gate) {
                asking = Task {
                    asks.open()
                    return try await services.service(Poller.self)
                }
                asks.wait()
            }
        }
        for _ in 0..<Volume.of(2_000, normally: 100) {
            let services = ServiceRegistry()
            services.register { Poller($0, Gate()) }
            // Made on a thread of its own: its task finds one that doesn't stand still.
            let made = Kept<Poller>()
            Thread.detachNewThread { made.keep(try? services.service(Poller.self)) }
            let poller = try #require(await made.value())
            #expect(try await poller.asking.value === poller)
        }
    }

    // MARK: Errors

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

    // MARK: Scopes

    @Test func `each scope has its own, and shares the rest`() throws {
        let services = ServiceRegistry()
        let stops = Log()
        services.register { _ in Client() }
        services.register(lifetime: .scope) { Inbox(client: try $0.service(), stops: stops) }
        let (one, other) = (services.makeScope(), services.makeScope())
        let inbox = try one.service(Inbox.self)
        #expect(try one.service(Inbox.self) === inbox)
        #expect(try other.service(Inbox.self) !== inbox)
        #expect(try other.service(Inbox.self).client === inbox.client)
    }

    @Test func `a scoped service is not to be had outside of a scope, also not by what lives longer`() throws {
        struct Cache: Sendable {}
        let services = ServiceRegistry()
        services.register(lifetime: .scope) { _ in Client() }
        services.register { registry -> Cache in
            _ = try registry.service(Client.self)
            return Cache()
        }
        #expect(throws: ServiceRegistryError.outOfScope("Client")) { try services.service(Client.self) }
        #expect(throws: ServiceRegistryError.outOfScope("Client")) { try services.makeScope().service(Cache.self) }
    }

    @Test func `a closed scope stops its services in reverse, and leaves the others alone`() throws {
        let services = ServiceRegistry()
        let stops = Log()
        services.register { _ in Client() }
        services.register(lifetime: .scope) { Inbox(client: try $0.service(), stops: stops) }
        services.register(lifetime: .scope) { registry -> Outbox in
            _ = try registry.service(Inbox.self)
            return Outbox(stops: stops)
        }
        let scope = services.makeScope()
        _ = try scope.service(Outbox.self)
        scope.close()
        scope.close()
        #expect(stops.entries == ["outbox", "inbox"])
        #expect(throws: ServiceRegistryError.closed("Inbox")) { try scope.service(Inbox.self) }
        _ = try services.service(Client.self)
    }

    @Test func `a registry closes its scopes, those that come later among them`() throws {
        let services = ServiceRegistry()
        let stops = Log()
        services.register(lifetime: .scope) { _ in Outbox(stops: stops) }
        let scope = services.makeScope()
        _ = try scope.service(Outbox.self)
        services.close()
        #expect(stops.entries == ["outbox"])
        #expect(throws: ServiceRegistryError.closed("Outbox")) { try scope.service(Outbox.self) }
        #expect(throws: ServiceRegistryError.closed("Outbox")) { try services.makeScope().service(Outbox.self) }
    }

    @Test func `a service that goes by several types stops once, with what it was made for`() throws {
        let services = ServiceRegistry()
        let stops = Log()
        services.register { _ in Outbox(stops: stops) }
        services.register((any AppService).self, lifetime: .scope) { try $0.service(Outbox.self) }
        services.register((any Sendable).self) { try $0.service(Outbox.self) }
        let scope = services.makeScope()
        let outbox = try scope.service(Outbox.self)
        #expect(try scope.service((any AppService).self) as? Outbox === outbox)
        #expect(try services.service((any Sendable).self) as? Outbox === outbox)
        scope.close()
        #expect(stops.entries.isEmpty)
        services.close()
        #expect(stops.entries == ["outbox"])
    }

    private final class Asking: AppService {
        let services: ServiceRegistry
        init(_ services: ServiceRegistry) { self.services = services }
        func stop() { _ = try? services.service(Client.self) }
    }

    @Test func `scopes end beside others that are made, and their services may ask as they stop`() {
        let services = ServiceRegistry()
        services.register { _ in Client() }
        services.register(lifetime: .scope) { [services] _ in Asking(services) }
        // Threads of their own: one that is left by nobody else's scope may end it.
        let shared = Mutex<ServiceRegistry?>(nil)
        DispatchQueue.concurrentPerform(iterations: 3) { _ in
            for _ in 0..<Volume.of(50_000, normally: 3_000) {
                let scope = services.makeScope()
                _ = try? scope.service(Asking.self)
                let other = shared.withLock { shared in
                    defer { shared = scope }
                    return shared
                }
                withExtendedLifetime(other) {}
            }
        }
        let last = shared.withLock { $0.take() }
        #expect((try? last?.service(Asking.self)) != nil)
    }

    @Test func `a scope that nobody holds is closed, and lets its services go`() throws {
        let services = ServiceRegistry()
        let stops = Log()
        services.register(lifetime: .scope) { _ in Outbox(stops: stops) }
        weak var outbox: Outbox?
        do {
            let scope = services.makeScope()
            outbox = try scope.service(Outbox.self)
        }
        #expect(stops.entries == ["outbox"])
        #expect(outbox == nil)
    }

    private final class Mail: AppService {
        let users: Integrator<Int, String>
        let operations = OperationQueue()
        init(_ provider: ControlledDataProvider<Int, String>) { users = Integrator(provider, executing: .queue) }
        func stop() {
            users.cancel()
            operations.cancelAllOperations()
        }
    }

    @Test(arguments: [true, false])
    func `calls and operations that run as their user signs out are cancelled, and those of others go on`(
        isClosed: Bool
    ) async throws {
        let provider = ControlledDataProvider<Int, String>()
        let services = ServiceRegistry()
        services.register(lifetime: .scope) { _ in Mail(provider) }
        let other = services.makeScope()
        let theirs = try await other.service(Mail.self).users.prepareCall(0).call()
        let kept = try await provider.nextRequest()
        var scope: ServiceRegistry? = services.makeScope()
        var mail = try await scope?.service(Mail.self)
        let running = try #require(mail).users.prepareCall(1).call()
        let request = try await provider.nextRequest()
        let waiting = try #require(mail).users.prepareCall(2).call()
        let operation = DataProviderOperation(provider, 3)
        mail?.operations.addOperation(operation)
        let queued = try await provider.nextRequest()
        mail = nil

        if isClosed { scope?.close() }
        scope = nil
        try await request.cancelled()
        try await queued.cancelled()
        #expect(await running.outcome == .cancelled(.cancelled))
        #expect(await waiting.outcome == .cancelled(.cancelled))
        try await operation.finished()
        #expect(operation.outcome == .cancelled(.cancelled))
        kept.answer("kept")
        #expect(try await theirs.value == "kept")
        #expect(provider.requests.map(\.input) == [0, 1, 3])
        withExtendedLifetime(other) {}
    }

    @Test func `what is made while its scope closes is stopped as well`() throws {
        let services = ServiceRegistry()
        let stops = Log()
        services.register(lifetime: .scope) { registry -> Outbox in
            registry.close()
            return Outbox(stops: stops)
        }
        let scope = services.makeScope()
        #expect(throws: ServiceRegistryError.closed("Outbox")) { try scope.service(Outbox.self) }
        #expect(stops.entries == ["outbox"])
    }
}
