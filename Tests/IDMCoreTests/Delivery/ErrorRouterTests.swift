import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("ErrorRouter", .inScope, .timeLimit(.ample))
@MainActor
struct ErrorRouterTests {
    private struct Other: Error {}

    private struct Wrapper: WrappingError {
        let underlyingError: (any Error)?
    }

    private final class Lines {
        var list: [String] = []
    }

    private let lines = Lines()

    /// Sends errors to a router, and returns which of its handlers received them.
    private func lines(_ router: ErrorRouter, _ errors: any Error...) -> [String] {
        lines.list = []
        for error in errors { router.handle(error: error) }
        return lines.list
    }

    private func add(_ line: String) -> @MainActor (any Error) -> Void {
        { [lines] _ in lines.list.append(line) }
    }

    @Test("A chain stops at the first handler that accepts, a broadcast doesn't")
    func deliveries() {
        let expected: [(ErrorRouter, [String])] = [
            (ErrorRouter(), ["high"]), (ErrorRouter(.chain), ["high"]),
            (ErrorRouter(.broadcast), ["high", "first", "second", "low"]),
        ]
        for (router, handlers) in expected {
            router.on(priority: -1, add("low")).on(add("first")).on(add("second"))
                .on(priority: 9, when: { $0 is Other }, add("other")).on(priority: 5, add("high"))

            #expect(lines(router, Trouble.first) == handlers)
        }
    }

    @Test("A typed handler finds its type inside wrapping errors, under its condition")
    func typed() {
        let router = ErrorRouter().on(Trouble.self, when: { $0 != .first }) { [lines] in lines.list.append("\($0)") }
            .on(IntegrationError.self, when: { if case .cancelled = $0 { false } else { true } }, add("model"))
            .otherwise(add("otherwise"))

        #expect(
            lines(
                router, Trouble.first, Trouble.second, Other(), IntegrationError.model(Trouble.second),
                IntegrationError.model(IntegrationError.model(Trouble.first)),
                Wrapper(underlyingError: IntegrationError.model(Trouble.numbered(3))))
                == ["otherwise", "second", "otherwise", "second", "model", "numbered(3)"])
    }

    @Test(
        "An error that no handler accepts reaches the newest otherwise",
        arguments: [ErrorRouter.Delivery.chain, .broadcast])
    func otherwise(delivery: ErrorRouter.Delivery) {
        let router = ErrorRouter(delivery)
        #expect(lines(router, Other()) == [])

        router.on(Trouble.self, add("trouble")).otherwise(add("replaced")).otherwise(add("otherwise"))

        #expect(lines(router, Other(), Trouble.first) == ["otherwise", "trouble"])
    }

    @Test("A sink is held weakly, and its condition goes with it")
    func sinks() {
        final class Witness {}
        let leaks = LeakTracker()
        var screen: SinkScreen? = leaks.track(SinkScreen())
        var witness: Witness? = Witness()
        weak let condition = witness
        let router = ErrorRouter().otherwise(add("otherwise"))
        if let screen, let witness { router.on(screen, when: { _ in withExtendedLifetime(witness) { true } }) }
        witness = nil

        #expect(lines(router, Trouble.first) == [] && screen?.lines == ["error first"])
        screen = nil
        leaks.verify()
        #expect(lines(router, Trouble.first) == ["otherwise"])
        router.on(when: { _ in false }, add("none"))
        #expect(condition == nil)
    }

    @Test("A handler that a handler adds receives the next error")
    func changedByHandler() {
        let router = ErrorRouter(.broadcast)
        router.on { [weak router, lines] _ in
            lines.list.append("old")
            router?.on(priority: 1) { _ in lines.list.append("new") }
        }

        #expect(lines(router, Trouble.first, Trouble.first) == ["old", "new", "old"])
    }

    @Test("Errors of calls and integrators arrive, cancellations don't")
    func attached() async {
        let router = ErrorRouter(.broadcast).on(add("error"))
        let integrator = Integrator(FailsBelowZero()).errorHandler(router)

        await integrator.prepareCall(-1).errorHandler(router).call().finish()
        await integrator.prepareCall(1).call().finish()
        await Integrator(Failing(CancellationError())).prepareCall(1).errorHandler(router).call().finish()

        #expect(lines.list == ["error", "error"])
    }

    // MARK: Retry

    private final class Banner {
        var retry: RetryAction?
    }

    private func router(_ banner: Banner) -> ErrorRouter {
        ErrorRouter().on { _, retry in banner.retry = retry }
    }

    @Test("A retry makes the same call again with handlers added later", arguments: [false, true])
    func retry(isOfIntegrator: Bool) async throws {
        let (banner, log) = (Banner(), Log())
        let inner = router(banner)
        let router = ErrorRouter().on(inner, when: { $0 is Trouble })
        let integrator = Integrator(FailingAtFirst(2))
        if isOfIntegrator { integrator.errorHandler(router) }
        var call = integrator.prepareCall(7)
        if !isOfIntegrator { call = call.errorHandler(router) }

        await call.recorded(in: log).call().finish()
        for run in 2...3 {
            banner.retry?()
            try await log.count(reaches: run * 3)
        }

        let failed = ["begin", "error first", "completion"]
        #expect(log.entries == failed + failed + ["begin", "success 7", "completion"])
    }

    @Test("A released retry releases the handlers of its call")
    func retryIsReleased() async throws {
        let (banner, gone) = (Banner(), Signal())
        await Integrator(Failing(Trouble.first)).prepareCall(1).errorHandler(router(banner)).opening(gone).call()
            .finish()
        banner.retry = nil

        try await gone.wait()
    }
}
