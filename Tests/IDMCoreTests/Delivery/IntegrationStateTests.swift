import IDMCore
import IDMTesting
import Observation
import TestSupport
import Testing

@Suite("IntegrationState", .inScope, .timeLimit(.ample))
@MainActor
struct IntegrationStateTests {
    private let provider = ControlledDataProvider<Int, Int>()

    private typealias State = IntegrationState<Int, Int>

    /// Waits for requests, and returns them by their inputs.
    private func requests(_ count: Int) async throws -> [Int: ControlledRequest<Int, Int>] {
        var requests: [Int: ControlledRequest<Int, Int>] = [:]
        for _ in 0..<count {
            let request = try await provider.waitForRequest()
            requests[request.input] = request
        }
        return requests
    }

    // MARK: Phases

    @Test("A loaded value stays while the next load runs")
    func loaded() async throws {
        let state = State(Integrator(provider))
        var texts = [state.text]
        for value in 1...2 {
            let task = state.load(value)
            let request = try await provider.waitForRequest()
            texts.append(state.text)
            request.answer(value)
            await task.finish()
            texts.append(state.text)
        }

        #expect(texts == ["idle", "loading nil", "loaded 1", "loading 1", "loaded 2"])
    }

    @Test("A failure shows its error and the value before it")
    func failed() async {
        let state = State(Integrator(FailsBelowZero()))
        var texts: [String] = []
        for input in [-1, 1, -2, 2] {
            await state.load(input).finish()
            texts.append(state.text)
        }

        #expect(texts == ["failed numbered(-1) nil", "loaded 1", "failed numbered(-2) 1", "loaded 2"])
    }

    @Test(
        "A cancelled call restores the phase before it", arguments: ["idle", "loaded 1", "failed numbered(-1) nil"])
    func cancelled(before: String) async throws {
        let slow = Integrator(FailsBelowZero().merged(with: provider))
        let state = State(slow, phase: .idle)
        if before != "idle" {
            let task = Integrator(FailsBelowZero()).prepareCall(before == "loaded 1" ? 1 : -1).state(state).call()
            await task.finish()
        }
        let task = Integrator(provider).prepareCall(5).state(state).call()
        let wasLoading = state.isLoading
        task.cancel()
        await task.finish()

        #expect(wasLoading && state.text == before)
    }

    @Test("A stream shows each value and progress until its end")
    func stream() async throws {
        let stream = ControlledStreamDataProvider<Void, Int>()
        let state = IntegrationState(Integrator(stream))
        let log = Log()
        let task = Integrator(stream).prepareCall().state(state).onSuccess { log.add("\($0)") }
            .onProgress { log.add("\($0.fraction)") }.call()
        let request = try await stream.waitForRequest()
        request.send(1)
        try await log.contains("1")
        request.reporter?.report(fraction: 0.5)
        try await log.contains("0.5")
        let running = state.text
        request.fail(Trouble.first)
        await task.finish()

        #expect([running, state.text] == ["loading 1 at 0.5", "failed first 1"])
    }

    @Test("A preview shows the given value or phase")
    func previews() {
        let integrator = Integrator(provider)

        #expect(State(integrator, initial: 1).text == "loaded 1")
        for (phase, text) in [
            (.idle, "idle"), (.loading(previous: 1), "loading 1"),
            (.failed(Trouble.first, previous: nil), "failed first nil"),
        ] as [(State.Phase, String)] {
            #expect(State(integrator, phase: phase).text == text)
        }
    }

    // MARK: Several calls

    @Test("An older call never replaces the result of a newer one")
    func olderCall() async throws {
        let state = State(Integrator(provider))
        let tasks = [1, 2, 3].map { state.load($0) }
        let requests = try await requests(3)
        requests[2]?.answer(2)
        await tasks[1].finish()
        var texts = [state.text]
        requests[1]?.answer(1)
        await tasks[0].finish()
        texts.append(state.text)
        requests[3]?.fail(Trouble.first)
        await tasks[2].finish()
        texts.append(state.text)

        #expect(texts == ["loading 2", "loading 2", "failed first 2"])
    }

    // MARK: Inputs

    @Test("reload and refresh use the input of the newest load that was not ignored")
    func reload() async throws {
        let state = State(Integrator(provider, executing: .only))
        let reloadedBefore = state.reload()
        let first = state.load(1)
        let ignored = [state.load(2), state.load(3)]
        for task in ignored { await task.finish() }
        try await requests(1)[1]?.answer(1)
        await first.finish()
        let input = state.input

        let reloaded = state.reload()
        try await requests(1)[1]?.answer(10)
        await reloaded?.finish()
        async let refreshed: Void = state.refresh()
        try await requests(1)[1]?.answer(11)
        await refreshed

        #expect(reloadedBefore == nil && input == 1 && state.text == "loaded 11")
    }

    @Test("A load that doesn't keep the value removes it, also from an older call")
    func keepingValue() async throws {
        let state = State(Integrator(provider), initial: 0)
        let older = state.load(1)
        let newer = state.load(2, keepingValue: false)
        let requests = try await requests(2)
        requests[1]?.answer(1)
        await older.finish()
        let running = state.text
        newer.cancel()
        await newer.finish()

        #expect([running, state.text] == ["loading nil", "idle"])
    }

    // MARK: Cancelling

    @Test("reset makes the state idle at once, and running calls are no longer shown")
    func reset() async throws {
        let state = State(Integrator(provider), initial: 1)
        let (own, other) = (state.load(2), Integrator(provider).prepareCall(3).state(state).call())
        let requests = try await requests(2)
        state.reset()
        var texts = [state.text]
        requests[3]?.answer(3)
        await other.finish()
        texts.append(state.text)
        #expect(await own.outcome == .cancelled(.cancelled) && state.input == nil)

        let next = state.load(4)
        try await self.requests(1)[4]?.answer(4)
        await next.finish()
        #expect(texts + [state.text] == ["idle", "idle", "loaded 4"])
    }

    @Test("run ends with its call, and a cancelled awaiting task cancels the call", arguments: [false, true])
    func run(isCancelled: Bool) async throws {
        let state = State(Integrator(provider))
        let task = Task { await state.run(1) }
        let request = try await provider.waitForRequest()
        if isCancelled { task.cancel() } else { request.answer(1) }
        await task.value
        let again = Task { await state.run(2) }
        again.cancel()
        await again.value

        #expect(state.text == (isCancelled ? "idle" : "loaded 1") && state.input == 1)
    }

    @Test("A released state cancels only the calls that it made")
    func released() async throws {
        let integrator = Integrator(provider)
        let leaks = LeakTracker()
        var state: State? = leaks.track(State(integrator))
        let own = state?.load(1)
        let other = try integrator.prepareCall(2).state(#require(state)).call()
        let requests = try await requests(2)
        state = nil
        leaks.verify()
        requests[2]?.answer(2)

        #expect(await own?.outcome == .cancelled(.cancelled))
        #expect(await other.outcome == .success(2))
    }

    @Test("A change is observed before it happens")
    func observed() async throws {
        let state = State(Integrator(provider))
        let changes = Log()
        func observe() {
            withObservationTracking {
                _ = (state.value, state.isLoading)
            } onChange: {
                changes.add("change")
            }
        }
        observe()
        let task = state.load(1)
        let request = try await provider.waitForRequest()
        observe()
        request.answer(1)
        await task.finish()

        #expect(changes.count == 2)
    }

    @Test("A retry of a failed load is shown as a newer load")
    func retried() async throws {
        final class Banner { var retry: RetryAction? }
        let (banner, log) = (Banner(), Log())
        let router = ErrorRouter().on { _, retry in banner.retry = retry }
        let integrator = Integrator(provider).errorHandler(router)
        integrator.onCompletion { log.add("completed") }
        let state = State(integrator)
        for input in 1...2 {
            let task = state.load(input)
            let request = try await requests(1)[input]
            if input == 1 { request?.fail(Trouble.first) } else { request?.answer(2) }
            await task.finish()
        }
        banner.retry?()
        let request = try await requests(1)[1]
        let running = state.text
        request?.answer(1)
        try await log.count(reaches: 3)

        #expect([running, state.text] == ["loading 2", "loaded 1"])
    }
}

extension IntegrationState where Output == Int {
    /// The phase and the progress in short, or `contradiction` if a property disagrees with it.
    fileprivate var text: String {
        let progress = progress.map { " at \($0.fraction)" } ?? ""
        let value = value.map { "\($0)" } ?? "nil"
        let text: String
        switch phase {
        case .idle: text = self.value == nil ? "idle" : "idle with a value"
        case .loading: text = "loading \(value)"
        case .loaded(let loaded): text = "loaded \(loaded)"
        case .failed(let error, _): text = "failed \(error) \(value)"
        }
        let fits = isLoading == text.hasPrefix("loading") && (error != nil) == text.hasPrefix("failed")
        return fits ? text + progress : "contradiction"
    }
}
