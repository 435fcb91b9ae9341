import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("Bad use is an error or nothing, and never a trap", .inScope, .timeLimit(.ample))
@MainActor
struct BadUseTests {
    private let log = Log()
    private let recorder = IntegrationRecorder<Int>()

    @Test("Retry counts of zero and below don't retry", arguments: [0, -1, Int.min])
    func noRetries(count: Int) async {
        await recorder.call(Integrator(Failing(Trouble.first)).prepareCall(1).retry(count)).finish()
        recorder.expectRecorded(.began, .failed(Trouble.first), .completed)
    }

    @Test("A huge retry count retries until there is a value")
    func hugeRetryCount() async {
        let attempts = Observed(0)
        let provider = ClosureDataProvider<Int, Int> { input in
            let attempt = attempts.countOne()
            if attempt < 1_000 { throw Trouble.first }
            return input
        }
        let task = Integrator(provider).prepareCall(1).retry(.max).call()
        #expect(await task.outcome == .success(1))
        #expect(attempts.value == 1_000)
    }

    @Test("Negative delays before a retry are no delay", arguments: [Duration.seconds(-1), .seconds(Int64.min)])
    func negativeDelays(delay: Duration) async {
        let clock = ManualClock()
        let call = Integrator(Failing(Trouble.first), clock: clock).prepareCall(1)
        await recorder.call(call.retry(2, delay: .constant(delay))).finish()
        recorder.expectRecorded(.began, .retried(1), .retried(2), .failed(Trouble.first), .completed)
        #expect(clock.remaining.isEmpty)
    }

    @Test("A negative debounce is none")
    func negativeDebounce() async {
        let integrator = Integrator(
            Echo<Int>(), executing: .latest(debounce: .seconds(Int64.min)), clock: ManualClock())
        #expect(await integrator.prepareCall(1).call().outcome == .success(1))
        #expect(ExecutingType.latest(debounce: .seconds(-1)) == .latest)
    }

    @Test("A width of zero and below is one", arguments: [0, -1, Int.min])
    func noWidth(width: Int) async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: .queue(width: width))
        let tasks = (0..<3).map { integrator.prepareCall($0).call() }
        for input in 0..<3 {
            let request = try await provider.waitForRequest()
            #expect(request.input == input)
            #expect(provider.requestCount == input + 1)
            request.answer(input)
            await tasks[input].finish()
        }
    }

    @Test("With a limit of zero and below nothing waits", arguments: [0, -1, Int.min])
    func noLimit(limit: Int) async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: .queue(limit: limit))
        let first = integrator.prepareCall(1).call()
        #expect(await integrator.prepareCall(2).call().outcome == .cancelled(.ignored))
        try await provider.waitForRequest().answer(1)
        #expect(await first.outcome == .success(1))
    }

    @Test("The greatest width and limit there are")
    func greatest() async {
        let integrator = Integrator(Echo<Int>(), executing: .queue(width: .max, limit: .max))
        #expect(await integrator.prepareCall(1).call().outcome == .success(1))
    }

    @Test("Releasing the integrator inside its own handler is a release", arguments: HandlerKind.allCases)
    func release(kind: HandlerKind) async throws {
        let gone = Signal()
        var integrator: Integrator<Int, Int>? = Integrator(
            Provoking(kind), executing: .only, cancelsWhenReleased: true)
        _ = integrator?.prepareCall(1).on(kind) { integrator = nil }.recorded(in: log).retry(1).opening(gone).call()
        try await gone.wait()
        #expect(integrator == nil)
        #expect(log.entries.last == "completion")
    }

    @Test("Calling from any handler is a call", arguments: HandlerKind.allCases)
    func callFromHandlers(kind: HandlerKind) async {
        let integrator = Integrator(Provoking(kind))
        var made: [IntegrationTask<Int>] = []
        await integrator.prepareCall(1).on(kind) { made.append(integrator.prepareCall(0).call()) }.retry(1).call()
            .finish()
        #expect(!made.isEmpty)
        for task in made { #expect(await task.outcome == .success(0)) }
    }

    @Test("Ten thousand calls, each made from the handler of the one before", arguments: HandlerKind.allCases)
    func tenThousandDeep(kind: HandlerKind) async throws {
        let done = Signal()
        let count = Volume.of(10_000, normally: kind == .completion ? 10_000 : 1_000)
        @MainActor func call(_ input: Int) {
            var isFirst = true
            let integrator = Integrator(Provoking(kind))
            integrator.prepareCall(input)
                .on(kind) {
                    // The handler holds the integrator: nobody else does.
                    guard isFirst else { return withExtendedLifetime(integrator) {} }
                    isFirst = false
                    if input < count { call(input + 1) } else { done.open() }
                }
                .retry(1).call()
        }
        call(1)
        try await done.wait()
    }

    @Test("A call that is made while it is being configured ends at once, and is heard to")
    func callInsideConfigure() async {
        var made: IntegrationTask<Int>?
        let integrator = Integrator(Echo<Int>())
        _ = Integrator(Echo<Int>()).prepareCall(1).forwardSuccess(to: integrator) { call in
            made = recorder.call(call)
            return call
        }
        await made?.finish()
        recorder.expectRecorded(.cancelled(.released))
    }

    @Test("A call that is made, cancelled and dropped a hundred times over is no harm")
    func cancelTwice() async {
        let integrator = Integrator(ControlledDataProvider<Int, Int>())
        let call = integrator.prepareCall(1)
        for _ in 0..<100 {
            let task = call.call()
            task.cancel()
            task.cancel()
            integrator.cancel()
            await task.finish()
            task.cancel()
            #expect(await task.outcome == .cancelled(.cancelled))
        }
    }
}
