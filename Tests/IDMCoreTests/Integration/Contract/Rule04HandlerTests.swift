import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("Rule 4: handlers run on the actor they were written on, one at a time, in order", .timeLimit(.ample))
struct Rule04HandlerTests {
    // That these compile is half of the test: a handler that left its actor could not touch the actor's state.

    @MainActor
    private final class Screen {
        var lines: [String] = []

        func load(from integrator: Integrator<Int, Int>, _ input: Int) -> IntegrationTask<Int> {
            integrator.prepareCall(input)
                .onBeginning { [weak self] in self?.show("begin") }
                .onProgress { [weak self] _ in self?.show("progress") }
                .onRetry { [weak self] _, _ in self?.show("retry") }
                .onSuccess { [weak self] in self?.show("success \($0)") }
                .onError { [weak self] _ in self?.show("error") }
                .onCancel { [weak self] in self?.show("cancel \($0)") }
                .onCompletion { [weak self] in self?.show("completion") }
                .retry(1)
                .call()
        }

        func listen(to integrator: Integrator<Int, Int>) {
            integrator.onBeginning { [weak self] in self?.show("begin") }
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

        func load(from integrator: Integrator<Int, Int>, _ input: Int) -> IntegrationTask<Int> {
            integrator.prepareCall(input)
                .onBeginning { [weak self] in Self.show(self, "begin") }
                .onProgress { [weak self] _ in Self.show(self, "progress") }
                .onRetry { [weak self] _, _ in Self.show(self, "retry") }
                .onSuccess { [weak self] in Self.show(self, "success \($0)") }
                .onError { [weak self] _ in Self.show(self, "error") }
                .onCancel { [weak self] in Self.show(self, "cancel \($0)") }
                .onCompletion { [weak self] in Self.show(self, "completion") }
                .retry(1)
                .call()
        }

        func listen(to integrator: Integrator<Int, Int>) {
            integrator.onBeginning { [weak self] in Self.show(self, "begin") }
                .onProgress { [weak self] _ in Self.show(self, "progress") }
                .onRetry { [weak self] _, _ in Self.show(self, "retry") }
                .onSuccess { [weak self] in Self.show(self, "success \($0)") }
                .onError { [weak self] _ in Self.show(self, "error") }
                .onCancel { [weak self] in Self.show(self, "cancel \($0)") }
                .onCompletion { [weak self] in Self.show(self, "completion") }
        }

        /// Only the runtime knows that a handler with a weak self is here.
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

    @Test("A @MainActor class, with a weak self", arguments: HandlerKind.allCases)
    @MainActor
    func mainActorClass(kind: HandlerKind) async {
        let screen = Screen()
        await screen.load(from: Integrator(Provoking(kind)), 1).finish()
        #expect(screen.lines == Self.lines(kind))
    }

    @Test("An actor, with a weak self", arguments: HandlerKind.allCases)
    func actor(kind: HandlerKind) async {
        let store = Store()
        await store.load(from: Integrator(Provoking(kind)), 1).finish()
        #expect(await store.lines == Self.lines(kind))
    }

    @Test("No actor", arguments: HandlerKind.allCases)
    func noActor(kind: HandlerKind) async {
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

    @Test("The integrator's handlers keep their actor too", arguments: HandlerKind.allCases)
    @MainActor
    func integratorHandlers(kind: HandlerKind) async {
        let (screen, store) = (Screen(), Store())
        let integrator = Integrator(Provoking(kind))
        screen.listen(to: integrator)
        await store.listen(to: integrator)
        await integrator.prepareCall(1).retry(1).call().finish()
        #expect(screen.lines == Self.lines(kind))
        #expect(await store.lines == Self.lines(kind))
    }

    @Test("A handler keeps its actor wherever the call is made")
    func madeElsewhere() async {
        let (screen, integrator) = (Screen(), Integrator(Echo<Int>()))
        await screen.listen(to: integrator)
        await Store().load(from: integrator, 1).finish()
        #expect(await screen.lines == ["begin", "success 1", "completion"])
    }

    // MARK: One at a time, in order

    @Test("A handler waits for the one before it, on whatever actor that is")
    @MainActor
    func waitsForTheOneBefore() async throws {
        let (stage, log) = (Stage(), Log())
        let call = Integrator(Echo<Int>()).prepareCall(1)
        let onTheStage = stage.here { stage in
            call.onSuccess { _ in
                stage.assertIsolated()
                log.add("on the stage")
            }
        }
        let task = anywhere(onTheStage.onSuccess { _ in log.add("on the main actor") }, log).call()
        try await stage.executor.waitForJobs()
        #expect(log.entries == [])
        stage.executor.open()
        await task.finish()
        #expect(log.entries == ["on the stage", "on the main actor", "anywhere"])
    }

    private nonisolated func anywhere(_ call: IntegrationCall<Int>, _ log: Log) -> IntegrationCall<Int> {
        call.onSuccess { _ in log.add("anywhere") }
    }

    @Test("Progress that comes while another handler is at work waits for it")
    @MainActor
    func progressWaits() async throws {
        let (stage, log, provider) = (Stage(), Log(), ControlledDataProvider<Int, Int>())
        let call = Integrator(provider).prepareCall(1).onProgress { log.add("main \($0.fraction)") }
        let task = stage.here { stage in call.onProgress { log.add("stage \($0.fraction)") } }
            .recorded(in: log)
            .call()
        let request = try await provider.waitForRequest()
        request.reporter?.report(fraction: 0.25)
        try await stage.executor.waitForJobs()
        request.reporter?.report(fraction: 0.5)
        request.answer(1)
        #expect(log.entries == ["begin", "main 0.25"])
        stage.executor.open()
        await task.finish()
        #expect(
            log.entries == [
                "begin", "main 0.25", "stage 0.25", "progress 0.25", "main 0.5", "stage 0.5", "progress 0.5",
                "success 1", "completion",
            ])
    }

    @Test("Handlers of one kind run in the order in which they were added", arguments: HandlerKind.allCases)
    @MainActor
    func inOrder(kind: HandlerKind) async {
        let log = Log()
        await Integrator(Provoking(kind)).prepareCall(1)
            .on(kind) { log.add("1") }.on(kind) { log.add("2") }.on(kind) { log.add("3") }
            .retry(1).call().finish()
        // The provider reports at each of its two attempts.
        #expect(log.entries == (kind == .progress ? ["1", "2", "3", "1", "2", "3"] : ["1", "2", "3"]))
    }

    @Test("The integrator's handlers run before the call's, whenever they were added")
    @MainActor
    func integratorFirst() async throws {
        let log = Log()
        let integrator = Integrator(FailsBelowZero())
        integrator.recorded(in: log, as: "integrator 1")
        let call = integrator.prepareCall(-1).recorded(in: log, as: "call").retry(1)
        integrator.recorded(in: log, as: "integrator 2")
        await call.call().finish()
        let kinds = ["begin", "retry 1 after numbered(-1)", "error numbered(-1)", "completion"]
        #expect(
            log.entries == kinds.flatMap { ["integrator 1: \($0)", "integrator 2: \($0)", "call: \($0)"] })
    }

    @Test("The integrator's handlers hear of a cancel and of progress before the call's too")
    @MainActor
    func integratorFirstOfTheRest() async throws {
        let (log, provider) = (Log(), ControlledDataProvider<Int, Int>())
        let integrator = Integrator(provider)
        integrator.recorded(in: log, as: "integrator")
        let task = integrator.prepareCall(1).recorded(in: log, as: "call").call()
        try await provider.waitForRequest().reporter?.report(fraction: 0.5)
        try await log.contains("call: progress 0.5")
        task.cancel()
        await task.finish()
        let kinds = ["begin", "progress 0.5", "cancel cancelled", "completion"]
        #expect(log.entries == kinds.flatMap { ["integrator: \($0)", "call: \($0)"] })
    }

    @Test("A handler that is added to the integrator while a call runs hears of later calls only")
    @MainActor
    func addedLater() async throws {
        let (log, provider) = (Log(), ControlledDataProvider<Int, Int>())
        let integrator = Integrator(provider)
        let first = integrator.prepareCall(1).call()
        let request = try await provider.waitForRequest()
        integrator.recorded(in: log, as: "integrator")
        request.answer(1)
        await first.finish()
        #expect(log.entries == [])
        let second = integrator.prepareCall(2).call()
        try await provider.waitForRequest().answer(2)
        await second.finish()
        #expect(log.entries(of: "integrator") == ["begin", "success 2", "completion"])
    }
}
