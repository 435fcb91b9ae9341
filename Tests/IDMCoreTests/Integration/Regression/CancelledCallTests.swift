import IDMCore
import IDMTesting
import TestSupport
import Testing

/// Faults of cancelled calls that an attack on the package found. Each holds wherever the call is made.
@Suite(.inScope, .timeLimit(.ample))
struct CancelledCallTests {
    @TaskLocal private static var user = "nobody"

    private static let rounds = Volume.of(5_000, normally: 100)

    @Test(arguments: CallerPlace.allCases)
    func `queued calls start in call order when the running ones are cancelled`(place: CallerPlace) async throws {
        var orders: Set<[String]> = []
        for _ in 0..<Self.rounds {
            orders.insert(
                try await place.run { isolation in
                    let (provider, log) = (ControlledDataProvider<Int, Int>(), Log())
                    let integrator = Integrator(provider, executing: .queue(width: 2))
                    var tasks: [IntegrationTask<Int>] = []
                    for input in 0..<4 {
                        let call = integrator.prepareCall(input).onBeginning { if input > 1 { log.add("\(input)") } }
                        tasks.append(call.call(isolation: isolation))
                    }
                    for _ in 0..<2 { _ = try await provider.waitForRequest() }
                    for task in tasks.prefix(2) { task.cancel(isolation: isolation) }
                    try await log.count(reaches: 2)
                    for task in tasks.suffix(2) { task.cancel(isolation: isolation) }
                    for task in tasks { await task.finish() }
                    return log.entries
                })
        }

        // Without an actor, handlers of two calls run at the same time.
        if place == .noActor { orders = Set(orders.map { $0.sorted() }) }
        #expect(orders == [["2", "3"]])
    }

    @Test(arguments: CallerPlace.allCases, [false, true])
    func `the place of a cancelled call is free in and after its completion`(
        place: CallerPlace, isInside: Bool
    ) async throws {
        for _ in 0..<Self.rounds {
            let outcome = try await place.run { isolation in
                let (provider, hasCompleted) = (ControlledDataProvider<Int, Int>(), Signal())
                let integrator = Integrator(provider, executing: .queue(limit: 0))
                let next = Observed<IntegrationTask<Int>?>(nil)
                let task = integrator.prepareCall(1)
                    .onCompletion {
                        if isInside { next.change { $0 = integrator.prepareCall(2).call(isolation: nil) } }
                        hasCompleted.open()
                    }
                    .call(isolation: isolation)
                _ = try await provider.waitForRequest()

                await elsewhere { task.cancel() }
                try await hasCompleted.wait()
                let second = next.value ?? integrator.prepareCall(2).call(isolation: isolation)
                try await provider.waitForRequest().answer(2)
                return await second.outcome
            }
            try #require(outcome == .success(2))
        }
    }

    @Test(arguments: CallerPlace.allCases)
    func `a cancelled call releases handlers and chain before its provider answers`(place: CallerPlace) async throws {
        let (gone, chainGone, leaks) = (Signal(), Signal(), LeakTracker())
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: false)
        let request = try await place.run { isolation in
            let integrator = leaks.track(Integrator(provider))
            let chained = leaks.track(Integrator(Echo<Int>())).prepareCall(2).opening(chainGone, isolation: isolation)
            let task = integrator.prepareCall(1).opening(gone, isolation: isolation).nextSuccess(chained)
                .call(isolation: isolation)
            let request = try await provider.waitForRequest()
            task.cancel(isolation: isolation)
            await task.finish()
            return request
        }

        try await gone.wait()
        try await chainGone.wait()
        leaks.verify()
        request.answer(1)
    }

    @Test(arguments: CallerPlace.allCases)
    func `cancelling all lanes spares calls made in their cancel handlers`(place: CallerPlace) async throws {
        let lanes = 5
        let outcomes = try await place.run { isolation in
            let provider = ControlledDataProvider<Int, Int>()
            let integrator = Integrator(provider, executing: .queue, lane: { $0 % lanes })
            let made = Observed<[IntegrationTask<Int>]>([])
            for input in 0..<2 * lanes {
                integrator.prepareCall(input)
                    .onCancel { _ in
                        // Into every lane: some are cancelled before this one, some after.
                        for lane in 0..<lanes { made.change { $0.append(integrator.prepareCall(lane).call()) } }
                    }
                    .call(isolation: isolation)
            }
            for _ in 0..<lanes { _ = try await provider.waitForRequest() }

            integrator.cancel(isolation: isolation)

            let count = 2 * lanes * lanes
            try await made.wait { $0.count == count }
            for _ in 0..<count {
                let request = try await provider.waitForRequest()
                request.answer(request.input)
            }
            var outcomes: [IntegrationOutcome<Int>] = []
            for task in made.value { outcomes.append(await task.outcome) }
            return outcomes
        }

        #expect(outcomes.allSatisfy { $0.cancelReason == nil })
    }

    /// What cancels a call.
    enum Canceller: CaseIterable, Sendable {
        case task, taskOfWaitingCall, integrator, newerCall, release
    }

    @Test(arguments: CallerPlace.allCases, Canceller.allCases)
    func `handlers of a cancelled call have its caller's task-locals`(
        place: CallerPlace, canceller: Canceller
    ) async throws {
        let log = Log()
        // A call that was never started ends without a completion.
        let expected = ["cancel for ann"] + (canceller == .taskOfWaitingCall ? [] : ["completion for ann"])
        try await place.run { isolation in
            let provider = ControlledDataProvider<Int, Int>()
            var integrator: Integrator<Int, Int>? = Integrator(
                provider, executing: canceller == .newerCall ? .latest : .queue,
                cancelsWhenReleased: canceller == .release)
            var others: [IntegrationTask<Int>?] = []
            if canceller == .taskOfWaitingCall { others = [integrator?.prepareCall(0).call(isolation: isolation)] }
            var task = Self.$user.withValue("ann") {
                integrator?.prepareCall(1)
                    .onCancel { _ in log.add("cancel for \(Self.user)") }
                    .onCompletion { log.add("completion for \(Self.user)") }
                    .call(isolation: isolation)
            }
            _ = try await provider.waitForRequest()

            Self.$user.withValue("eve") {
                switch canceller {
                case .task, .taskOfWaitingCall: task?.cancel(isolation: isolation)
                case .integrator: integrator?.cancel(isolation: isolation)
                case .newerCall: others = [integrator?.prepareCall(2).call(isolation: isolation)]
                case .release: (task, integrator) = (nil, nil)
                }
            }

            try await log.count(reaches: expected.count)
            await task?.finish()
            for other in others {
                other?.cancel(isolation: isolation)
                await other?.finish()
            }
        }

        #expect(log.entries == expected)
    }
}
