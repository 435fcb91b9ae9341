import Foundation
import IDMCore
import IDMOperations
import IDMTesting
import Synchronization
import TestSupport
import Testing

/// Scopes, and the end of services.
extension ServiceRegistryTests {

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
        #expect(throws: ServiceRegistryError.outOfScope("IDMOperationsTests.ServiceRegistryTests.Client")) {
            try services.service(Client.self)
        }
        #expect(throws: ServiceRegistryError.outOfScope("IDMOperationsTests.ServiceRegistryTests.Client")) {
            try services.makeScope().service(Cache.self)
        }
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
        #expect(throws: ServiceRegistryError.closed("IDMOperationsTests.ServiceRegistryTests.Inbox")) {
            try scope.service(Inbox.self)
        }
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
        #expect(throws: ServiceRegistryError.closed("IDMOperationsTests.ServiceRegistryTests.Outbox")) {
            try scope.service(Outbox.self)
        }
        #expect(throws: ServiceRegistryError.closed("IDMOperationsTests.ServiceRegistryTests.Outbox")) {
            try services.makeScope().service(Outbox.self)
        }
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
        let kept = try await provider.waitForRequest()
        var scope: ServiceRegistry? = services.makeScope()
        var mail = try await scope?.service(Mail.self)
        let running = try #require(mail).users.prepareCall(1).call()
        let request = try await provider.waitForRequest()
        let waiting = try #require(mail).users.prepareCall(2).call()
        let operation = DataProviderOperation(provider, 3)
        mail?.operations.addOperation(operation)
        let queued = try await provider.waitForRequest()
        mail = nil

        if isClosed { scope?.close() }
        scope = nil
        try await request.waitUntilCancelled()
        try await queued.waitUntilCancelled()
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
        #expect(throws: ServiceRegistryError.closed("IDMOperationsTests.ServiceRegistryTests.Outbox")) {
            try scope.service(Outbox.self)
        }
        #expect(stops.entries == ["outbox"])
    }

    @Test func `a service that goes by several types stops once, also when its scope closes meanwhile`() throws {
        for isOfScope in [true, false] {
            let services = ServiceRegistry()
            let stops = Log()
            services.register(lifetime: isOfScope ? .scope : .registry) { _ in Outbox(stops: stops) }
            services.register((any AppService).self, lifetime: .scope) { scope in
                let outbox = try scope.service(Outbox.self)
                scope.close()
                return outbox
            }
            let scope = services.makeScope()
            #expect(throws: ServiceRegistryError.self) { try scope.service((any AppService).self) }
            #expect(stops.entries == (isOfScope ? ["outbox"] : []))
            services.close()
            #expect(stops.entries == ["outbox"])
        }
    }

    @Test func `one object that is made twice at once stops once`() {
        for _ in 0..<Volume.of(1_000, normally: 50) {
            let services = ServiceRegistry()
            let stops = Log()
            let outbox = Outbox(stops: stops)
            let arrived = Atomic(0)
            let meet: @Sendable () -> Void = {
                arrived.add(1, ordering: .relaxed)
                while arrived.load(ordering: .relaxed) < 2 {}
            }
            services.register { _ in
                meet()
                return outbox
            }
            services.register((any AppService).self) { _ in
                meet()
                return outbox
            }
            // Neither is a thread that others need.
            let both = DispatchGroup()
            for isByName in [true, false] {
                both.enter()
                Thread.detachNewThread {
                    if isByName {
                        _ = try? services.service(Outbox.self)
                    } else {
                        _ = try? services.service((any AppService).self)
                    }
                    both.leave()
                }
            }
            both.wait()
            services.close()
            #expect(stops.entries == ["outbox"])
        }
    }

    @Test func `an object that several scopes give out stops once, with the last of them`() throws {
        let services = ServiceRegistry()
        let stops = Log()
        let outbox = Outbox(stops: stops)
        services.register(lifetime: .scope) { _ in outbox }
        services.register((any AppService).self) { _ in outbox }
        let scopes = [services.makeScope(), services.makeScope()]
        for scope in scopes { _ = try scope.service(Outbox.self) }
        _ = try services.service((any AppService).self)
        for scope in scopes { scope.close() }
        #expect(stops.entries.isEmpty)
        services.close()
        #expect(stops.entries == ["outbox"])
    }

    @Test func `what is made while its scope closes stops before what it was made with`() throws {
        let services = ServiceRegistry()
        let stops = Log()
        services.register { _ in Outbox(stops: stops) }
        services.register(lifetime: .scope) { scope -> Inbox in
            _ = try scope.service(Outbox.self)
            services.close()
            #expect(stops.entries.isEmpty)
            return Inbox(client: Client(), stops: stops)
        }
        let scope = services.makeScope()
        #expect(throws: ServiceRegistryError.closed("IDMOperationsTests.ServiceRegistryTests.Inbox")) {
            try scope.service(Inbox.self)
        }
        #expect(stops.entries == ["inbox", "outbox"])
    }

    @Test func `however scopes close as their services are made, each of those stops once`() {
        let services = ServiceRegistry()
        services.register { _ in Client() }
        let made = Mutex<[Log]>([])
        services.register(lifetime: .scope) { _ in
            let stops = Log()
            made.withLock { $0.append(stops) }
            return Outbox(stops: stops)
        }
        services.register((any AppService).self, lifetime: .scope) { try $0.service(Outbox.self) }
        for _ in 0..<Volume.of(5_000, normally: 300) {
            let scope = services.makeScope()
            DispatchQueue.concurrentPerform(iterations: 2) { index in
                if index == 0 { _ = try? scope.service((any AppService).self) } else { scope.close() }
            }
        }
        #expect(made.withLock { $0 }.allSatisfy { $0.entries == ["outbox"] })
    }

    @Test func `a scope that is opened too late is closed, whatever is registered with it`() {
        let services = ServiceRegistry()
        services.close()
        let scope = services.makeScope()
        scope.register { _ in Client() }
        #expect(throws: ServiceRegistryError.closed("IDMOperationsTests.ServiceRegistryTests.Client")) {
            try scope.service(Client.self)
        }
    }

    @Test(arguments: [false, true]) func `a scope that is opened too late hurries nobody's end`(isWithin: Bool) throws {
        let stops = Log()
        final class Base: AppService {
            let stops: Log
            init(_ stops: Log) { self.stops = stops }
            func stop() { stops.add("base") }
        }
        final class Top: AppService {
            let stops: Log
            init(_ stops: Log) { self.stops = stops }
            func stop() { stops.add("top") }
        }
        let services = ServiceRegistry()
        services.register { _ in Base(stops) }
        services.register(lifetime: isWithin ? .registry : .scope) { registry in
            _ = try registry.service(Base.self)
            services.close()
            _ = services.makeScope()
            stops.add("made")
            return Top(stops)
        }
        _ = try? (isWithin ? services : services.makeScope()).service(Top.self)
        #expect(stops.entries == ["made", "top", "base"])
    }
}
