import IDMCore
import IDMTesting
import Observation
import TestSupport
import Testing

@Suite("The state of a screen", .inScope, .timeLimit(.ample))
@MainActor
struct IntegrationStateTests {
    private let provider = ControlledDataProvider<Int, Int>()

    @Test("goes from idle over loading to loaded, and keeps its value while it loads again")
    func loaded() async throws {
        let state = IntegrationState(Integrator(provider))
        #expect(state.phase == .idle && state.value == nil && state.error == nil && !state.isLoading)
        for value in 1...2 {
            let task = state.load(value)
            let request = try await provider.nextRequest()
            #expect(state.phase == .loading && state.isLoading)
            #expect(state.value == (value == 1 ? nil : value - 1))
            request.answer(value)
            await task.finish()
            #expect(state.phase == .loaded && state.value == value && state.error == nil && !state.isLoading)
        }
    }

    @Test("shows what the last call to end has done, which may have told its last value long before")
    func lastToEnd() async throws {
        let values = ControlledStreamDataProvider<Int, Int>()
        let state = IntegrationState(Integrator(values))
        let (first, second) = (state.load(1), state.load(2))
        let (one, two) = (try await values.nextRequest(), try await values.nextRequest())
        two.send(7)
        while state.value != 7 { try await changes(of: state) }
        one.fail(Trouble.first)
        await first.finish()
        #expect(state.phase == .loading && state.error as? Trouble == .first)
        two.finish()
        await second.finish()
        #expect(state.phase == .loaded && state.value == 7 && state.error == nil)
    }

    @Test("tells the runs of one call apart")
    func runsOfOneCall() async throws {
        let state = IntegrationState(Integrator(provider))
        let call = Integrator(provider).prepareCall(1).state(state)
        let tasks = [call.call(), call.call()]
        let requests = [try await provider.nextRequest(), try await provider.nextRequest()]
        requests[0].fail(Trouble.first)
        while state.error == nil { try await changes(of: state) }
        requests[1].answer(42)
        for task in tasks { await task.finish() }
        #expect(state.phase == .loaded && state.value == 42 && state.error == nil)
    }

    /// Waits until something that is shown has changed.
    private func changes(of state: IntegrationState<Int, Int>) async throws {
        let change = Signal()
        withObservationTracking {
            _ = (state.phase, state.value, state.error)
        } onChange: {
            change.open()
        }
        try await change.wait()
    }

    @Test("shows an error until the next call begins, and keeps the value")
    func failed() async throws {
        let state = IntegrationState(Integrator(FailsBelowZero()))
        await state.load(1).finish()
        await state.load(-1).finish()
        #expect(state.phase == .failed && state.value == 1)
        #expect(state.error as? Trouble == .numbered(-1))
        await state.load(2).finish()
        #expect(state.phase == .loaded && state.value == 2 && state.error == nil)
    }

    @Test("has nothing to say of a value that is loaded at once")
    func atOnce() async {
        let state = IntegrationState(Integrator(Echo<Int>()))
        let task = state.load(1)
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            #expect(state.phase == .loaded && state.value == 1)
        }
        await task.finish()
        #expect(state.phase == .loaded && state.value == 1)
    }

    @Test("is idle again after a cancel without a value, and loaded after one with a value")
    func cancelled() async throws {
        let state = IntegrationState(Integrator(provider))
        let first = state.load(1)
        state.cancel()
        await first.finish()
        #expect(state.phase == .idle)
        let second = state.load(2)
        var request = try await provider.nextRequest()
        while request.input != 2 { request = try await provider.nextRequest() }
        request.answer(2)
        await second.finish()
        let third = state.load(3)
        state.cancel()
        await third.finish()
        #expect(state.phase == .loaded && state.value == 2)
    }

    @Test("is loading until the last of several calls has ended")
    func several() async throws {
        let state = IntegrationState(Integrator(provider))
        let tasks = [state.load(1), state.load(2)]
        for _ in tasks {
            let request = try await provider.nextRequest()
            #expect(state.isLoading)
            request.answer(request.input)
            await tasks[request.input - 1].finish()
        }
        #expect(!state.isLoading)
    }

    @Test("shows an error no more when a call that ends after the failed one succeeds or is cancelled")
    func errorBesideOthers() async throws {
        for isCancelled in [false, true] {
            let state = IntegrationState(Integrator(provider))
            let tasks = [state.load(0), state.load(1)]
            let requests = [try await provider.nextRequest(), try await provider.nextRequest()]
                .sorted { $0.input < $1.input }
            requests[0].fail(Trouble.first)
            await tasks[0].finish()
            #expect(state.phase == .loading && state.error as? Trouble == .first)
            if isCancelled { tasks[1].cancel() } else { requests[1].answer(1) }
            await tasks[1].finish()
            #expect(state.phase == (isCancelled ? .idle : .loaded) && state.error == nil)
        }
    }

    @Test("shows the newest call under .latest")
    func latest() async throws {
        let state = IntegrationState(Integrator(provider, executing: .latest))
        let older = state.load(1)
        _ = try await provider.nextRequest()
        let newer = state.load(2)
        await older.finish()
        let request = try await provider.nextRequest()
        #expect(state.isLoading)
        request.answer(2)
        await newer.finish()
        #expect(state.phase == .loaded && state.value == 2)
    }

    @Test("shows each value of a stream, and the progress until the end")
    func stream() async throws {
        let stream = ControlledStreamDataProvider<Void, Int>()
        let state = IntegrationState(Integrator(stream))
        let log = Log()
        let task = Integrator(stream).prepareCall().state(state).onSuccess { log.add("\($0)") }
            .onProgress { log.add("\($0.fraction)") }.call()
        let request = try await stream.nextRequest()
        request.send(1)
        try await log.contains("1")
        #expect(state.isLoading && state.value == 1)
        request.reporter?.report(fraction: 0.5)
        try await log.contains("0.5")
        #expect(state.progress?.fraction == 0.5)
        request.send(2)
        request.finish()
        await task.finish()
        #expect(state.phase == .loaded && state.value == 2 && state.progress == nil)
    }

    @Test("fails when a stream fails after values, and keeps the last one")
    func failingStream() async throws {
        let stream = ControlledStreamDataProvider<Void, Int>()
        let state = IntegrationState(Integrator(stream))
        let task = state.load()
        let request = try await stream.nextRequest()
        request.send(1)
        request.fail(Trouble.first)
        await task.finish()
        #expect(state.phase == .failed && state.value == 1 && state.error as? Trouble == .first)
    }

    @Test("tells its observers of a change, before it")
    func observed() async throws {
        let state = IntegrationState(Integrator(provider))
        let changes = Log()
        func observe() {
            withObservationTracking {
                _ = (state.phase, state.value)
            } onChange: {
                changes.add("change")
            }
        }
        observe()
        let task = state.load(1)
        let request = try await provider.nextRequest()
        #expect(changes.count == 1)
        observe()
        request.answer(1)
        await task.finish()
        #expect(changes.count == 2)
        observe()
        #expect(state.value == 1)
        #expect(changes.count == 2)
    }

    @Test("is held weakly by a call, which goes on without it")
    func weakly() async throws {
        let integrator = Integrator(provider)
        let leaks = LeakTracker()
        var state: IntegrationState<Int, Int>? = leaks.track(IntegrationState(integrator))
        let task = try integrator.prepareCall(1).state(#require(state)).call()
        let request = try await provider.nextRequest()
        state = nil
        leaks.verify()
        request.answer(1)
        #expect(await task.outcome == .success(1))
    }

    @Test("holds its integrator: when it goes, what it loads is cancelled")
    func holdsItsIntegrator() async throws {
        var state: IntegrationState<Int, Int>? = IntegrationState(Integrator(provider))
        _ = state?.load(1)
        let request = try await provider.nextRequest()
        #expect(!request.isCancelled)
        state = nil
        try await request.cancelled()
    }
}
