import Foundation
import IDMCore
import IDMOperations
import Synchronization
import TestSupport
import Testing

/// Work that services begin as they are made, and that asks for services.
extension ServiceRegistryTests {
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
            made.ask(services)
            let poller = try #require(await made.value())
            #expect(try await poller.asking.value === poller)
        }
    }

    @Test func `work that a service begins as it is made may ask for it`() async throws {
        final class Feed: Sendable {
            let call: IntegrationTask<Bool>
            let operation: DataProviderOperation<Void, Bool>
            init(_ services: ServiceRegistry) {
                let refresh = ClosureDataProvider<Void, Bool> { _ in
                    _ = try await services.service(Feed.self)
                    return true
                }
                // They begin at once, and below the making on its stack.
                call = Integrator(refresh).prepareCall().call(isolation: nil)
                operation = DataProviderOperation(refresh)
                operation.start()
            }
        }
        let services = ServiceRegistry()
        services.register { Feed($0) }
        let feed = try await services.service(Feed.self)
        #expect(try await feed.call.value)
        #expect(try await feed.operation.value)
    }

    @Test func `work that waits for a service without holding up what began it closes no circle`() async throws {
        struct First: Sendable {}
        struct Second: Sendable { let work: IntegrationTask<Bool> }
        let services = ServiceRegistry()
        let (began, goesOn, waits) = (Gate(), Gate(), Gate())
        services.register { registry -> First in
            began.open()
            goesOn.wait()
            _ = try registry.service(Second.self)
            return First()
        }
        services.register { registry -> Second in
            let work = Integrator(
                ClosureDataProvider<Void, Bool> { _ in
                    _ = try await registry.service(First.self)
                    return true
                })
            let task = work.prepareCall().call(isolation: nil)
            goesOn.open()
            waits.wait()
            return Second(work: task)
        }
        let (first, second) = (Kept<First>(), Kept<Second>())
        first.ask(services)
        await began.opened()
        second.ask(services)
        await goesOn.opened()
        waits.open()
        #expect(await first.value() != nil)
        #expect(try await second.value()?.work.value == true)
    }

    private enum Begun: CaseIterable { case call, operation, immediately }

    @Test(arguments: Begun.allCases)
    private func `what work needs that a making begins is no need of that, and of nobody who waits for it`(
        begun: Begun
    ) async throws {
        struct First: Sendable {}
        struct Second: Sendable {}
        struct Third: Sendable {}
        let services = ServiceRegistry()
        let (thirdBegan, thirdGoes, secondBegan) = (Gate(), Gate(), Gate())
        services.register { registry -> Third in
            thirdBegan.open()
            thirdGoes.wait()
            _ = try registry.service(First.self)
            return Third()
        }
        services.register { registry -> Second in
            secondBegan.open()
            _ = try registry.service(Third.self)
            return Second()
        }
        let had = Kept<Second>()
        services.register { registry -> First in
            let work = ClosureDataProvider<Void, Void> { _ in had.keep(try? await registry.service(Second.self)) }
            switch begun {
            case .call: Integrator(work).prepareCall().call(isolation: nil).hold()
            case .operation: DataProviderOperation(work).start()
            case .immediately:
                guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
                    Task { had.keep(try? await registry.service(Second.self)) }
                    break
                }
                Task.immediateDetached { had.keep(try? await registry.service(Second.self)) }
            }
            return First()
        }
        let (third, first) = (Kept<Third>(), Kept<First>())
        third.ask(services)
        await thirdBegan.opened()
        first.ask(services)
        // Nobody waits for a thread of the pool here: those that make something may stand still on all of them.
        Thread.detachNewThread {
            secondBegan.wait()
            thirdGoes.open()
        }
        let isThere = [await third.value() != nil, await first.value() != nil, await had.value() != nil]
        #expect(isThere == [true, true, true])
    }

    @Test func `what work needs that a making begins is made where that work runs, and with what holds for it`()
        async throws
    {
        struct First: Sendable { let work: IntegrationTask<Second> }
        struct Second: Sendable {
            let owner: Int
            let isOnMainQueue: Bool
        }
        let services = ServiceRegistry()
        // The main actor isn't bound to a thread everywhere.
        let isMain = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: isMain, value: true)
        services.register { _ in
            Second(owner: Owner.number, isOnMainQueue: DispatchQueue.getSpecific(key: isMain) == true)
        }
        services.register { registry -> First in
            let work = ClosureDataProvider<Void, Second> { _ in try await registry.service(Second.self) }
            // It begins at once, on this actor.
            return Owner.$number.withValue(7) {
                MainActor.assumeIsolated { First(work: Integrator(work).prepareCall().call()) }
            }
        }
        let first = try await MainActor.run { try services.service(First.self) }
        let second = try await first.work.value
        #expect(second.owner == 7 && second.isOnMainQueue)
    }

    @Test func `work that a nested making begins goes on after that one`() async throws {
        struct Needed: Sendable {}
        struct Inner: Sendable { let isDone: Gate }
        struct Outer: Sendable {}
        let services = ServiceRegistry()
        services.register { _ in Needed() }
        services.register { registry -> Inner in
            let isDone = Gate()
            let work = ClosureDataProvider<Void, Void> { _ in
                _ = try await registry.service(Needed.self)
                isDone.open()
            }
            Integrator(work).prepareCall().call(isolation: nil).hold()
            return Inner(isDone: isDone)
        }
        services.register { registry -> Outer in
            // Not its own work.
            try registry.service(Inner.self).isDone.wait()
            return Outer()
        }
        let outer = Kept<Outer>()
        outer.ask(services)
        #expect(await outer.value() != nil)
    }

    private enum Owner {
        @TaskLocal static var number = 0
    }
}
