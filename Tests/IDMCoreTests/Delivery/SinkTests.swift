import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("Sinks", .inScope, .timeLimit(.ample))
@MainActor
struct SinkTests {
    private let provider = ControlledDataProvider<Int, Int>()
    private let screen = SinkScreen()

    private func attach(_ screen: SinkScreen, to call: IntegrationCall<Int>) -> IntegrationCall<Int> {
        call.loadingHandler(screen).dataHandler(screen).errorHandler(screen).progressHandler(screen)
    }

    private func attach(_ screen: SinkScreen, to integrator: Integrator<Int, Int>) {
        integrator.loadingHandler(screen).dataHandler(screen).errorHandler(screen).progressHandler(screen)
    }

    /// Ways in which a call ends.
    enum End: CaseIterable {
        case success, failure, cancel, ignored

        var lines: [String] {
            switch self {
            case .success: ["loading", "progress 0.5", "data 7", "finished"]
            case .failure: ["loading", "error first", "finished"]
            case .cancel: ["loading", "finished"]
            case .ignored: []
            }
        }
    }

    @Test("Sinks of a call receive each event of its run in order", arguments: End.allCases)
    func call(end: End) async throws {
        let integrator = Integrator(provider, executing: .only)
        let running = end == .ignored ? integrator.prepareCall(0).call() : nil
        let task = attach(screen, to: integrator.prepareCall(1)).call()
        let request = try await provider.waitForRequest()
        switch end {
        case .success:
            request.reporter?.report(fraction: 0.5)
            request.answer(7)
        case .failure: request.fail(Trouble.first)
        case .cancel: task.cancel()
        case .ignored: break
        }
        await task.finish()

        #expect(screen.lines == end.lines)
        running?.cancel()
        await running?.finish()
    }

    @Test("Sinks of an integrator receive each call before the sinks of that call")
    func integrator() async {
        let integrator = Integrator(FailsBelowZero())
        attach(screen, to: integrator)
        var linesAtData: [String] = []

        await integrator.prepareCall(1).onSuccess { _ in linesAtData = screen.lines }.call().finish()
        await integrator.prepareCall(-1).call().finish()

        #expect(linesAtData == ["loading", "data 1"])
        #expect(screen.lines == ["loading", "data 1", "finished", "loading", "error numbered(-1)", "finished"])
    }

    @Test("A sink shared by calls and integrators begins once and finishes once")
    func sharedLoading() async throws {
        let (integrator, other) = (Integrator(provider).loadingHandler(screen), SinkScreen())
        let first = integrator.prepareCall(1).loadingHandler(screen).loadingHandler(other).call()
        let second = Integrator(provider).prepareCall(2).loadingHandler(screen).call()
        let requests = [try await provider.waitForRequest(), try await provider.waitForRequest()]
            .sorted { $0.input < $1.input }
        requests[0].answer(1)
        await first.finish()
        #expect([screen.lines, other.lines] == [["loading"], ["loading", "finished"]])
        requests[1].fail(Trouble.first)
        await second.finish()
        await Integrator(Echo<Int>()).prepareCall(3).loadingHandler(screen).call().finish()

        #expect(screen.lines == ["loading", "finished", "loading", "finished"])
    }

    @Test("Sinks are held weakly, and the call continues without them")
    func weakly() async throws {
        let leaks = LeakTracker()
        var (screen, other): (SinkScreen?, SinkScreen?) = (leaks.track(SinkScreen()), leaks.track(SinkScreen()))
        let integrator = Integrator(provider)
        if let other { attach(other, to: integrator) }
        let task = try attach(#require(screen), to: integrator.prepareCall(1)).call()
        let request = try await provider.waitForRequest()
        (screen, other) = (nil, nil)
        leaks.verify()
        request.answer(7)

        #expect(await task.outcome == .success(7))
        await task.finish()
    }
}
