import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("Rule 4: handlers run on their own actor, one at a time, in order", .timeLimit(.ample))
struct Rule04HandlerTests {
    // Half of the test is that this compiles: a handler that left its actor could not use the actor's state.

    @MainActor
    private final class Screen {
        var lines: [String] = []

        func adding(to call: IntegrationCall<Int>) -> IntegrationCall<Int> {
            call
                .onBeginning { [weak self] in self?.show("begin") }
                .onProgress { [weak self] _ in self?.show("progress") }
                .onRetry { [weak self] _, _ in self?.show("retry") }
                .onSuccess { [weak self] in self?.show("success \($0)") }
                .onError { [weak self] _ in self?.show("error") }
                .onCancel { [weak self] in self?.show("cancel \($0)") }
                .onCompletion { [weak self] in self?.show("completion") }
        }

        private func show(_ line: String) {
            MainActor.assertIsolated()
            lines.append(line)
        }
    }

    private actor Store {
        var lines: [String] = []

        func adding(to call: IntegrationCall<Int>) -> IntegrationCall<Int> {
            call
                .onBeginning { [weak self] in Self.show(self, "begin") }
                .onProgress { [weak self] _ in Self.show(self, "progress") }
                .onRetry { [weak self] _, _ in Self.show(self, "retry") }
                .onSuccess { [weak self] in Self.show(self, "success \($0)") }
                .onError { [weak self] _ in Self.show(self, "error") }
                .onCancel { [weak self] in Self.show(self, "cancel \($0)") }
                .onCompletion { [weak self] in Self.show(self, "completion") }
        }

        func listen(to integrator: Integrator<Int, Int>) {
            _ = integrator.addHandlers { adding(to: $0) }
        }

        /// Only the runtime knows that a handler with a weak self runs here.
        private nonisolated static func show(_ store: Store?, _ line: String) {
            store?.assumeIsolated { $0.lines.append(line) }
        }
    }

    private static func lines(_ kind: HandlerKind) -> [String] {
        let end =
            switch kind {
            case .error: "error"
            case .cancel: "cancel cancelled"
            default: "success 1"
            }
        return ["begin", "progress", "retry", "progress", end, "completion"]
    }

    @Test(arguments: HandlerKind.allCases)
    func `handlers with a weak self keep their actor`(kind: HandlerKind) async {
        let (screen, store) = (Screen(), Store())
        let call = Integrator(Provoking(kind)).prepareCall(1).retry(1)

        await store.adding(to: await screen.adding(to: call)).call().finish()

        #expect(await screen.lines == Self.lines(kind))
        #expect(await store.lines == Self.lines(kind))
    }

    @Test(arguments: HandlerKind.allCases)
    @MainActor
    func `handlers of an integrator keep their actor`(kind: HandlerKind) async {
        let (screen, store, integrator) = (Screen(), Store(), Integrator(Provoking(kind)))
        _ = integrator.addHandlers { screen.adding(to: $0) }
        await store.listen(to: integrator)

        await integrator.prepareCall(1).retry(1).call().finish()

        #expect(screen.lines == Self.lines(kind))
        #expect(await store.lines == Self.lines(kind))
    }

    @Test(arguments: HandlerKind.allCases)
    func `handlers written on no actor run on none`(kind: HandlerKind) async {
        let log = Log()
        await Integrator(Provoking(kind)).prepareCall(1)
            .onBeginning { log.add(#isolation == nil ? "begin" : "?") }
            .onProgress { _ in log.add(#isolation == nil ? "progress" : "?") }
            .onRetry { _, _ in log.add(#isolation == nil ? "retry" : "?") }
            .onSuccess { log.add(#isolation == nil ? "success \($0)" : "?") }
            .onError { _ in log.add(#isolation == nil ? "error" : "?") }
            .onCancel { log.add(#isolation == nil ? "cancel \($0)" : "?") }
            .onCompletion { log.add(#isolation == nil ? "completion" : "?") }
            .retry(1).call().finish()

        #expect(log.entries == Self.lines(kind))
    }

    // MARK: Order

    @Test(arguments: HandlerKind.allCases)
    @MainActor
    func `handlers of one kind run in the order of addition`(kind: HandlerKind) async {
        let log = Log()
        await Integrator(Provoking(kind)).prepareCall(1)
            .on(kind) { log.add("1") }.on(kind) { log.add("2") }.on(kind) { log.add("3") }
            .retry(1).call().finish()

        // The provider reports in each of its two attempts.
        #expect(log.entries == (kind == .progress ? ["1", "2", "3", "1", "2", "3"] : ["1", "2", "3"]))
    }

    // MARK: Handlers of an integrator

    @Test(arguments: HandlerKind.allCases)
    @MainActor
    func `handlers of the integrator run before the call's`(kind: HandlerKind) async {
        let log = Log()
        let integrator = Integrator(Provoking(kind))
        integrator.recorded(in: log, as: "integrator 1")
        let call = integrator.prepareCall(1).recorded(in: log, as: "call").retry(1)
        integrator.recorded(in: log, as: "integrator 2")

        await call.call().finish()

        let names = ["integrator 1", "integrator 2", "call"]
        #expect(log.entries == log.entries(of: "call").flatMap { line in names.map { "\($0): \(line)" } })
        #expect(log.entries(of: "call").count == 6)
    }

    @Test @MainActor func `handlers apply to calls made between their addition and removal`() async throws {
        let (log, provider) = (Log(), ControlledDataProvider<Int, Int>())
        let integrator = Integrator(provider)
        func call(_ input: Int, whileRunning change: () -> Void = {}) async throws {
            let task = integrator.prepareCall(input).call()
            let request = try await provider.waitForRequest()
            change()
            request.answer(input)
            await task.finish()
        }

        var first: HandlerRegistration?
        try await call(1) { first = integrator.addHandlers { $0.recorded(in: log, as: "first") } }
        let second = integrator.addHandlers { $0.onSuccess { log.add("second: success \($0)") } }
        try await call(2) { first?.remove() }
        try await call(3)
        second.remove()
        second.remove()
        try await call(4)

        #expect(log.entries(of: "first") == ["begin", "success 2", "completion"])
        #expect(log.entries(of: "second") == ["success 2", "success 3"])
    }

    @Test @MainActor func `removed handlers are released, and retry rules and links are ignored`() async throws {
        let (gone, log) = (Signal(), Log())
        let integrator = Integrator(Failing(Trouble.first))
        let chained = Integrator(Echo<Int>()).prepareCall(2).recorded(in: log)
        let registration = integrator.addHandlers { $0.opening(gone).retry(3).nextError(chained).recorded(in: log) }

        await integrator.prepareCall(1).call().finish()
        registration.remove()

        try await gone.wait()
        #expect(log.entries == ["begin", "error first", "completion"])
    }
}
