import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("The router of errors", .inScope, .timeLimit(.ample))
@MainActor
struct ErrorRouterTests {
    private struct Other: Error {}

    @Test("As a chain it stops at the first taker, highest priority first, then in the order of adding")
    func chain() {
        var heard: [String] = []
        let router = ErrorRouter(.chain)
        router.on(priority: 1, when: { $0 is Other }) { _ in heard.append("low, other") }
            .on(priority: 2, when: { $0 is Trouble }) { _ in heard.append("first of two") }
            .on(priority: 2) { _ in heard.append("second of two") }
        router.handle(error: Trouble.first)
        router.handle(error: Other())
        #expect(heard == ["first of two", "second of two"])
    }

    @Test("As a broadcast it reaches everybody who wants it, in the same order")
    func broadcast() {
        var heard: [String] = []
        let router = ErrorRouter(.broadcast)
        router.on(priority: -1) { _ in heard.append("last") }
            .on { _ in heard.append("middle") }
            .on(priority: 5, when: { $0 is Other }) { _ in heard.append("other") }
            .on(priority: 5) { _ in heard.append("first") }
        router.handle(error: Trouble.first)
        #expect(heard == ["first", "middle", "last"])
    }

    @Test("It is a chain unless it is told otherwise")
    func plain() {
        var heard = 0
        let router = ErrorRouter()
        router.on { _ in heard += 1 }.on { _ in heard += 1 }
        router.handle(error: Other())
        #expect(heard == 1)
    }

    @Test("A handler for one type gets that type alone, also from inside a model's error")
    func typed() {
        var heard: [Trouble] = []
        var others = 0
        let router = ErrorRouter()
        router.on(Trouble.self) { heard.append($0) }.on { _ in others += 1 }
        router.handle(error: Trouble.first)
        router.handle(error: Other())
        router.handle(error: IntegrationError.model(Trouble.second))
        router.handle(error: IntegrationError.model(IntegrationError.model(Trouble.numbered(3))))
        #expect(heard == [.first, .second, .numbered(3)])
        #expect(others == 1)
    }

    @Test("A handler for IntegrationError gets it as it is")
    func wrapper() {
        var heard = 0
        let router = ErrorRouter()
        router.on(IntegrationError.self) { _ in heard += 1 }
        router.handle(error: IntegrationError.model(Trouble.second))
        #expect(heard == 1)
    }

    @Test("A condition of a typed handler is asked with the typed error")
    func typedCondition() {
        var heard: [Trouble] = []
        let router = ErrorRouter()
        router.on(Trouble.self, when: { $0 != .first }) { heard.append($0) }
        router.handle(error: Trouble.first)
        router.handle(error: Trouble.second)
        #expect(heard == [.second])
    }

    @Test("What nobody wants goes to otherwise, of which there is one")
    func otherwise() {
        var heard: [String] = []
        for delivery in [ErrorRouter.Delivery.chain, .broadcast] {
            let router = ErrorRouter(delivery)
            router.handle(error: Other())
            router.on(Trouble.self) { _ in heard.append("trouble") }
                .otherwise { _ in heard.append("replaced") }
                .otherwise { _ in heard.append("otherwise") }
            router.handle(error: Other())
            router.handle(error: Trouble.first)
        }
        #expect(heard == ["otherwise", "trouble", "otherwise", "trouble"])
    }

    @Test("A sink is held weakly, and wants nothing once it has gone")
    func sinks() {
        let leaks = LeakTracker()
        var screen: SinkScreen? = leaks.track(SinkScreen())
        var unclaimed = 0
        let router = ErrorRouter()
        if let screen { router.on(screen) }
        router.otherwise { _ in unclaimed += 1 }
        router.handle(error: Trouble.first)
        #expect(screen?.lines == ["error first"])
        screen = nil
        leaks.verify()
        router.handle(error: Trouble.first)
        #expect(unclaimed == 1)
    }

    @Test("What was added for a sink that has gone is let go of when something else is added")
    func goneSinks() {
        final class Witness {}
        var screen: SinkScreen? = SinkScreen()
        var witness: Witness? = Witness()
        weak let gone = witness
        let router = ErrorRouter()
        if let screen, let witness { router.on(screen, when: { _ in withExtendedLifetime(witness) { true } }) }
        witness = nil
        router.on { _ in }
        #expect(screen != nil && gone != nil)
        screen = nil
        router.on { _ in }
        #expect(gone == nil)
    }

    @Test("A router inside a router takes what it is given")
    func nested() {
        var heard = 0
        let (outer, inner) = (ErrorRouter(), ErrorRouter())
        inner.on { _ in heard += 1 }
        outer.on(inner, when: { $0 is Trouble })
        outer.handle(error: Trouble.first)
        outer.handle(error: Other())
        #expect(heard == 1)
    }

    @Test("A handler may add handlers: they count from the next error on")
    func changedByAHandler() {
        var heard: [String] = []
        let router = ErrorRouter(.broadcast)
        router.on { [weak router] _ in
            heard.append("old")
            router?.on(priority: 1) { _ in heard.append("new") }
        }
        router.handle(error: Trouble.first)
        #expect(heard == ["old"])
        router.handle(error: Trouble.first)
        #expect(heard == ["old", "new", "old"])
    }

    @Test("It hears the errors of a call and of an integrator, and never a cancel")
    func attached() async {
        var heard: [String] = []
        let router = ErrorRouter(.broadcast)
        router.on { heard.append("\($0)") }
        let integrator = Integrator(FailsBelowZero()).errorHandler(router)
        await integrator.prepareCall(-1).errorHandler(router).call().finish()
        await integrator.prepareCall(1).call().finish()
        await Integrator(Failing(CancellationError())).prepareCall(1).errorHandler(router).call().finish()
        #expect(heard == ["numbered(-1)", "numbered(-1)"])
    }
}
