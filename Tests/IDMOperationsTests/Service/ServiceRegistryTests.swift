import Foundation
import IDMCore
import IDMOperations
import IDMTesting
import Synchronization
import TestSupport
import Testing

@Suite("The registry of services", .timeLimit(.ample))
struct ServiceRegistryTests {
    final class Client: Sendable {}

    final class Inbox: AppService {
        let client: Client
        let stops: Log
        init(client: Client, stops: Log) {
            self.client = client
            self.stops = stops
        }
        func stop() { stops.add("inbox") }
    }

    final class Outbox: AppService {
        let stops: Log
        init(stops: Log) { self.stops = stops }
        func stop() { stops.add("outbox") }
    }

    private struct Slow: Sendable {}

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
        weak var kept: ServiceRegistry?
        let stops = Log()
        do {
            let services = ServiceRegistry()
            kept = services
            services.register { _ in Client() }
            do {
                let canary = DeinitObserver {
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
        first.ask(services)
        await began.opened()
        thread.ask(services)
        let clock = ManualClock()
        let tasks = (0..<100).map { _ in
            Task(executorPreference: clock.executor) { try await services.service(Client.self) }
        }
        // They all wait by then, and on no thread, or the clock would see them at work.
        await clock.rest()
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
        slow.ask(services)
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
        first.ask(services)
        await began.opened()
        let clock = ManualClock()
        let tasks = (0..<10).map { _ in
            Task(executorPreference: clock.executor) { try await services.service(Client.self) }
        }
        // They all wait by then, and on no thread, or the clock would see them at work.
        await clock.rest()
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
            #expect(
                names.first == names.last && Set(names) == Set(henFirst)
                    && names.count == 3)
        }
    }

    @Test func `how a service is made is let go of where no lock is held, also as somebody asks`() async {
        let services = ServiceRegistry()
        services.register { _ in Client() }
        let asked = Gate()
        let ended = Atomic(false)
        // Asks for itself all the while that it is replaced.
        services.register { registry -> Slow in
            Thread.detachNewThread {
                for _ in 0..<Volume.of(400_000, normally: 20_000) {
                    let asking = DeinitObserver { _ = try? services.service(Client.self) }
                    services.register { _ in withExtendedLifetime(asking) { Slow() } }
                }
                ended.store(true, ordering: .releasing)
            }
            while !ended.load(ordering: .acquiring) { _ = try? registry.service(Slow.self) }
            return Slow()
        }
        Thread.detachNewThread {
            _ = try? services.service(Slow.self)
            asked.open()
        }
        await asked.opened()
    }
}
