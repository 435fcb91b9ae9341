import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("Rule 4: handlers may call, cancel or release the same integrator, to any depth", .inScope, .timeLimit(.ample))
@MainActor
struct Rule04ReentranceTests {
    private let log = Log()

    // MARK: Call

    /// Calls again from a handler of a kind. Returns the end of the outer and of the inner call.
    private func callAgain(
        from kind: HandlerKind, _ type: ExecutingType
    ) async throws -> (outer: IntegrationOutcome<Int>, inner: IntegrationOutcome<Int>) {
        let integrator = Integrator(Provoking(kind), executing: type)
        var inner: IntegrationTask<Int>?
        let outer = integrator.prepareCall(1)
            .on(kind) {
                guard inner == nil else { return }
                inner = integrator.prepareCall(0).recorded(in: log, as: "inner").call()
                log.add("called")
            }
            .recorded(in: log, as: "outer")
            .retry(1).call()
        await outer.finish()
        await inner?.finish()
        return try await (outer.outcome, #require(inner).outcome)
    }

    @Test("A call from any handler runs, under .default and .queue", arguments: HandlerKind.allCases)
    func callAgain(kind: HandlerKind) async throws {
        for type in [ExecutingType.default, .queue, .queue(width: 2)] {
            let (outer, inner) = try await callAgain(from: kind, type)
            #expect(inner == .success(0))
            #expect(outer.cancelReason == (kind == .cancel ? .cancelled : nil))
        }
    }

    @Test(
        "A call from a handler runs under .only if the end is decided, and is ignored before",
        arguments: HandlerKind.allCases)
    func callAgainUnderOnly(kind: HandlerKind) async throws {
        let (outer, inner) = try await callAgain(from: kind, .only)
        #expect(inner == (kind.isTerminal ? .success(0) : .cancelled(.ignored)))
        #expect(outer.cancelReason == (kind == .cancel ? .cancelled : nil))
    }

    @Test(
        "A call from a handler runs under .latest, and supersedes the call unless its end is decided",
        arguments: HandlerKind.allCases)
    func callAgainUnderLatest(kind: HandlerKind) async throws {
        let (outer, inner) = try await callAgain(from: kind, .latest)
        #expect(inner == .success(0))
        #expect(outer.cancelReason == (kind == .cancel ? .cancelled : kind.isTerminal ? nil : .superseded))
    }

    @Test("A call from a handler is admitted at once, and starts in a later turn", arguments: HandlerKind.allCases)
    func startsLater(kind: HandlerKind) async throws {
        _ = try await callAgain(from: kind, .default)
        let called = try #require(log.entries.firstIndex(of: "called"))
        let begun = try #require(log.entries.firstIndex(of: "inner: begin"))
        #expect(called < begun)
        // An end is told in one turn, with the completion.
        if kind.isTerminal { #expect(begun > log.entries.firstIndex(of: "outer: completion") ?? .max) }
    }

    @Test("A call from a handler is admitted at once: it has its place in the queue before calls made later")
    func admittedAtOnce() async {
        let integrator = Integrator(Echo<Int>(), executing: .queue)
        let task = integrator.prepareCall(1)
            .onBeginning {
                integrator.prepareCall(2).recorded(in: log, as: "inner").call()
                integrator.prepareCall(3).recorded(in: log, as: "inner").call()
            }
            .call()
        let last = integrator.prepareCall(4).recorded(in: log, as: "inner").call()
        await task.finish()
        await last.finish()
        #expect(log.entries(of: "inner").filter { $0.hasPrefix("success") } == ["success 2", "success 3", "success 4"])
    }

    // MARK: Cancel

    @Test("Cancelling the integrator from any handler", arguments: HandlerKind.allCases)
    func cancelIntegrator(kind: HandlerKind) async {
        let integrator = Integrator(Provoking(kind))
        let task = integrator.prepareCall(1).on(kind) { integrator.cancel() }.recorded(in: log).retry(1).call()
        await task.finish()
        expectEnd(of: kind, cancelled: .cancelled)
    }

    @Test("Cancelling the task from any handler, twice", arguments: HandlerKind.allCases)
    func cancelTask(kind: HandlerKind) async throws {
        // Queued behind another call, so that its task is there when its handlers run.
        let provider = ControlledDataProvider<Int, Int>()
        let gate = Integrator(provider, executing: .only)
        let first = gate.prepareCall(0).call()
        var task: IntegrationTask<Int>?
        task = Integrator(Provoking(kind)).prepareCall(1)
            .on(kind) {
                task?.cancel()
                task?.cancel()
            }
            .recorded(in: log).retry(1).after(first).call()
        try await provider.waitForRequest().answer(0)
        await task?.finish()
        expectEnd(of: kind, cancelled: .cancelled)
    }

    @Test("Releasing the integrator in any handler", arguments: HandlerKind.allCases)
    func release(kind: HandlerKind) async throws {
        let (gone, called) = (Signal(), Signal())
        // The call holds its integrator until it has returned, so the provider answers only then.
        let held = ClosureDataProvider<Int, Int> { input in
            try await called.wait()
            return input
        }
        let leaks = LeakTracker()
        var integrator: Integrator<Int, Int>? = leaks.track(
            Integrator(held >>>> Provoking(kind), executing: .queue, cancelsWhenReleased: true))
        _ = integrator?.prepareCall(1).on(kind) { integrator = nil }.recorded(in: log).retry(1).opening(gone).call()
        called.open()
        try await gone.wait()
        #expect(integrator == nil)
        leaks.verify()
        expectEnd(of: kind, cancelled: .released)
    }

    private func expectEnd(of kind: HandlerKind, cancelled reason: CancelReason) {
        #expect(log.entries.last == "completion")
        let end = log.entries.dropLast().last
        switch kind {
        case .beginning, .progress, .retry: #expect(end == "cancel \(reason)")
        case .error: #expect(end == "error second")
        case .cancel: #expect(end == "cancel cancelled")
        case .success, .completion: #expect(end == "success 1")
        }
        #expect(log.entries.filter { $0 == "completion" }.count == 1)
    }

    // MARK: Depth

    /// Calls from the success handler of the call before, so many times.
    private func chain(_ depth: Int, _ type: ExecutingType) async throws -> Int {
        let integrator = Integrator(Echo<Int>(), executing: type)
        let done = Signal()
        var count = 0
        @MainActor func call(_ input: Int) {
            integrator.prepareCall(input)
                .onSuccess { value in
                    count += 1
                    if value < depth { call(value + 1) } else { done.open() }
                }
                .call()
        }
        call(1)
        try await done.wait()
        return count
    }

    @Test("Tens of thousands of calls, each made from the handler of the one before")
    func depth() async throws {
        let depth = Volume.of(100_000, normally: 20_000)
        #expect(try await chain(depth, .default) == depth)
    }

    @Test("Thousands of calls, each made from the handler of the one before", arguments: ExecutingType.several)
    func depth(type: ExecutingType) async throws {
        let depth = Volume.of(10_000, normally: 4_000)
        #expect(try await chain(depth, type) == depth)
    }

    @Test("Tens of thousands of calls from handlers without an actor")
    func depthWithoutActor() async throws {
        let done = Signal()
        Self.call(Integrator(Echo<Int>()), 1, done)
        try await done.wait()
    }

    private nonisolated static func call(_ integrator: Integrator<Int, Int>, _ input: Int, _ done: Signal) {
        integrator.prepareCall(input)
            .onCompletion {
                input < Volume.of(100_000, normally: 20_000) ? call(integrator, input + 1, done) : done.open()
            }
            .call()
    }

    @Test("Ten thousand calls of .latest, each made from the beginning of the one that it supersedes")
    func depthOfSupersession() async throws {
        let integrator = Integrator(ControlledDataProvider<Int, Int>(), executing: .latest)
        let done = Signal()
        var superseded = 0
        @MainActor func call(_ input: Int) {
            integrator.prepareCall(input)
                .onBeginning { input < 10_000 ? call(input + 1) : integrator.cancel() }
                .onCancel { reason in
                    if reason == .superseded { superseded += 1 } else { done.open() }
                }
                .call()
        }
        call(1)
        try await done.wait()
        #expect(superseded == 9_999)
    }
}
