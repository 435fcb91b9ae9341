import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("Sinks", .inScope, .timeLimit(.ample))
@MainActor
struct SinkTests {
    private let provider = ControlledDataProvider<Int, Int>()

    private func attach(_ screen: SinkScreen, to call: IntegrationCall<Int>) -> IntegrationCall<Int> {
        call.loadingHandler(screen).dataHandler(screen).errorHandler(screen).progressHandler(screen)
    }

    private func attach(_ screen: SinkScreen, to integrator: Integrator<Int, Int>) {
        integrator.loadingHandler(screen).dataHandler(screen).errorHandler(screen).progressHandler(screen)
    }

    @Test("hear a call: loading, progress, data")
    func success() async throws {
        let screen = SinkScreen()
        let task = attach(screen, to: Integrator(provider).prepareCall(1)).call()
        let request = try await provider.nextRequest()
        request.reporter?.report(fraction: 0.5)
        request.answer(7)
        await task.finish()
        #expect(screen.lines == ["loading", "progress 0.5", "data 7", "finished"])
    }

    @Test("hear an error, and nothing of a cancel but the end of the loading")
    func otherEnds() async throws {
        let screen = SinkScreen()
        await attach(screen, to: Integrator(Failing(Trouble.first)).prepareCall(1)).call().finish()
        #expect(screen.lines == ["loading", "error first", "finished"])
        let other = SinkScreen()
        let task = attach(other, to: Integrator(provider).prepareCall(1)).call()
        task.cancel()
        await task.finish()
        #expect(other.lines == ["loading", "finished"])
    }

    @Test("of an integrator hear every call, before the sinks of the call")
    func integrator() async {
        let (all, one) = (SinkScreen(), SinkScreen())
        let integrator = Integrator(FailsBelowZero())
        attach(all, to: integrator)
        await integrator.prepareCall(1).dataHandler(one).onSuccess { _ in
            #expect(all.lines == ["loading", "data 1"])
        }.call().finish()
        await integrator.prepareCall(-1).call().finish()
        #expect(all.lines == ["loading", "data 1", "finished", "loading", "error numbered(-1)", "finished"])
        #expect(one.lines == ["data 1"])
    }

    @Test("hear nothing of a call that never starts")
    func unstarted() async {
        let screen = SinkScreen()
        let integrator = Integrator(provider, executing: .only)
        let first = integrator.prepareCall(1).call()
        await attach(screen, to: integrator.prepareCall(2)).call().finish()
        #expect(screen.lines == [])
        first.cancel()
        await first.finish()
    }

    @Test("are held weakly: one that has gone hears nothing more, and the call goes on")
    func weakly() async throws {
        let leaks = LeakTracker()
        var (screen, other): (SinkScreen?, SinkScreen?) = (leaks.track(SinkScreen()), leaks.track(SinkScreen()))
        let integrator = Integrator(provider)
        if let other { attach(other, to: integrator) }
        let task = try attach(#require(screen), to: integrator.prepareCall(1)).call()
        let request = try await provider.nextRequest()
        (screen, other) = (nil, nil)
        leaks.verify()
        request.answer(7)
        await task.finish()
        #expect(await task.outcome == .success(7))
    }

    @Test("run in the order in which they and the handlers were added")
    func order() async {
        let screen = SinkScreen()
        await Integrator(Echo<Int>()).prepareCall(1)
            .onSuccess { _ in #expect(screen.lines == []) }
            .dataHandler(screen)
            .onSuccess { _ in #expect(screen.lines == ["data 1"]) }
            .call().finish()
        #expect(screen.lines == ["data 1"])
    }
}
