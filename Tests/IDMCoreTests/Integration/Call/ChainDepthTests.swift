import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

/// Chains that are longer than the stack is deep.
@Suite(.timeLimit(.ample))
@MainActor
struct ChainDepthTests {
    typealias Nesting = @MainActor (_ next: IntegrationCall<Int>, _ call: IntegrationCall<Int>) -> IntegrationCall<Int>

    private nonisolated static let nestings: [Nesting] = [
        { next, call in call.nextSuccess(next) },
        { next, call in call.nextCompletion(next) },
        { next, call in call.after(next) },
        { next, call in
            call.forwardSuccess(to: Integrator(Echo<Int>())) { $0.nextSuccess(next) }
        },
    ]

    /// Calls of one integrator, each prepared to start the one before.
    private func chain(_ integrator: Integrator<Int, Int>, _ length: Int, _ nesting: Nesting) -> IntegrationCall<Int> {
        (1..<length).reduce(integrator.prepareCall(0)) { next, input in nesting(next, integrator.prepareCall(input)) }
    }

    @Test(arguments: nestings)
    func `a prepared chain of fifty thousand calls can be released`(nesting: Nesting) {
        let integrator = Integrator(Echo<Int>())
        weak let first = integrator
        var call: IntegrationCall<Int>? = chain(integrator, 50_000, nesting)
        #expect(call != nil)

        call = nil
        _ = consume integrator

        #expect(first == nil)
    }

    @Test func `a chain of thirty thousand calls runs, is cancelled and is released`() async {
        let length = 30_000
        var count = 0
        let integrator = Integrator(Echo<Int>())
        integrator.onCompletion { count += 1 }
        var call: IntegrationCall<Int>? = chain(integrator, length) { $1.nextSuccess($0) }
        var task = call?.call()
        await task?.finish()
        task?.cancel()
        #expect(await task?.outcome == .success(length - 1))
        #expect(count == length)

        weak let state = task?.execution
        (call, task) = (nil, nil)

        #expect(state == nil)
    }

    @Test func `a line of five thousand predecessors runs`() async {
        let integrator = Integrator(Echo<Int>())
        let call = chain(integrator, 5_000) { $1.after($0) }

        #expect(await call.call().outcome == .success(4_999))
    }

    @Test func `ten thousand calls chained by their providers run without handlers`() async throws {
        let done = Signal()
        Self.recall(Integrator(Echo<Int>()), 10_000, done)
        try await done.wait()
    }

    private nonisolated static func recall(_ integrator: Integrator<Int, Int>, _ rest: Int, _ done: Signal) {
        guard rest > 0 else { return done.open() }
        let next = ClosureDataProvider<Int, Int> { input in
            recall(integrator, rest - 1, done)
            return input
        }
        integrator.prepareCall(rest).nextSuccess(Integrator(next).prepareCall(0)).call()
    }
}
