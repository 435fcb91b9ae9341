import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("Rule 4: handlers may call, cancel or release their integrator", .inScope, .timeLimit(.ample))
@MainActor
struct Rule04ReentranceTests {
    private let log = Log()

    // MARK: Call

    @Test(
        arguments: HandlerKind.allCases,
        [ExecutingType.default, .only, .queue, .queue(width: 2), .latest])
    func `a call made in a handler obeys the executing type`(kind: HandlerKind, type: ExecutingType) async throws {
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

        // Under .only the place is free, and under .latest the value is safe, once the end is decided.
        let isIgnored = type == .only && !kind.isTerminal
        let isSuperseded = type == .latest && !kind.isTerminal
        #expect(try await #require(inner).outcome == (isIgnored ? .cancelled(.ignored) : .success(0)))
        #expect(
            await outer.outcome.cancelReason == (kind == .cancel ? .cancelled : isSuperseded ? .superseded : nil))
        // It starts in a later turn: after the completion, if that is to come in this turn.
        let lines = log.entries
        let first = try #require(lines.firstIndex { $0.hasPrefix("inner") })
        let before = try #require(lines.firstIndex(of: kind.isTerminal ? "outer: completion" : "called"))
        #expect(before < first)
    }

    @Test func `a call made in a handler has its place in the queue at once`() async {
        let integrator = Integrator(Echo<Int>(), executing: .queue)
        integrator.onSuccess { [log] in log.add("\($0)") }
        let task = integrator.prepareCall(1)
            .onBeginning {
                integrator.prepareCall(2).call()
                integrator.prepareCall(3).call()
            }
            .call()
        let last = integrator.prepareCall(4).call()
        await task.finish()
        await last.finish()

        #expect(log.entries == ["1", "2", "3", "4"])
    }

    // MARK: Cancel and release

    /// The ways in which a handler ends its own call.
    enum Interruption: CaseIterable {
        case cancelIntegrator, cancelTask, release
    }

    @Test(arguments: HandlerKind.allCases, Interruption.allCases)
    func `a call that its handler cancels or releases ends by its stage`(
        kind: HandlerKind, interruption: Interruption
    ) async throws {
        // The provider answers when the integrator and the task are stored, and the call no longer needs them.
        let (gate, gone) = (Signal(), Signal())
        var integrator: Integrator<Int, Int>? = Integrator(
            gated(by: gate) >>>> Provoking(kind), executing: .queue, cancelsWhenReleased: true)
        var task: IntegrationTask<Int>?
        // A call before this one: the begin handler runs after `task` is stored.
        let first = ControlledDataProvider<Int, Int>()
        task = integrator?.prepareCall(1).after(Integrator(first).prepareCall(0))
            .on(kind) {
                switch interruption {
                case .cancelIntegrator: integrator?.cancel()
                case .cancelTask:
                    task?.cancel()
                    task?.cancel()
                case .release: (integrator, task) = (nil, nil)
                }
            }
            .recorded(in: log).retry(1).opening(gone).call()
        if interruption == .release { task = nil }
        gate.open()
        try await first.waitForRequest().answer(0)
        try await gone.wait()

        let lines = log.entries.filter { !$0.hasPrefix("progress") && !$0.hasPrefix("retry") }
        let end =
            switch kind {
            case .beginning, .progress, .retry: interruption == .release ? "cancel released" : "cancel cancelled"
            case .error: "error second"
            case .cancel: "cancel cancelled"
            case .success, .completion: "success 1"
            }
        #expect(lines == ["begin", end, "completion"])
    }

    // MARK: Depth

    /// Calls from the success handler of the call before.
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

    @Test(arguments: ExecutingType.several)
    func `thousands of calls from handlers don't use up the stack`(type: ExecutingType) async throws {
        let depth = type == .default ? Volume.of(100_000, normally: 20_000) : Volume.of(10_000, normally: 4_000)
        #expect(try await chain(depth, type) == depth)
    }

    @Test func `calls from handlers on no actor don't use up the stack`() async throws {
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

    @Test func `calls that supersede the calls of their begin handlers don't use up the stack`() async throws {
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

    @Test(arguments: HandlerKind.allCases)
    func `calls from handlers of each kind don't use up the stack`(kind: HandlerKind) async throws {
        let done = Signal()
        let count = Volume.of(10_000, normally: 1_000)
        @MainActor func call(_ input: Int) {
            var isFirst = true
            Integrator(Provoking(kind)).prepareCall(input)
                .on(kind) {
                    guard isFirst else { return }
                    isFirst = false
                    if input < count { call(input + 1) } else { done.open() }
                }
                .retry(1).call()
        }
        call(1)
        try await done.wait()
    }
}
