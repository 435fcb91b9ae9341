import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite("A chain of a hundred thousand calls has no use for a stack as deep", .timeLimit(.ample))
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

    /// Calls of one integrator, each of which is prepared to start the one before.
    private func chain(_ integrator: Integrator<Int, Int>, _ length: Int, _ nesting: Nesting) -> IntegrationCall<Int> {
        (1..<length).reduce(integrator.prepareCall(0)) { next, input in nesting(next, integrator.prepareCall(input)) }
    }

    @Test("as it is released, all of it at once, however it was prepared", arguments: nestings)
    func depthOfPreparedCalls(nesting: Nesting) async {
        let integrator = Integrator(Echo<Int>())
        weak let first = integrator
        var call: IntegrationCall<Int>? = chain(integrator, 100_000, nesting)
        #expect(call != nil)
        call = nil
        #expect(first != nil)
        _ = consume integrator
        #expect(first == nil)
    }

    @Test("as it runs, as the task of the first is cancelled when all is over, and as that and the call are released")
    func depthOfChain() async {
        let length = 100_000
        var count = 0
        let integrator = Integrator(Echo<Int>())
        integrator.onCompletion { count += 1 }
        var call: IntegrationCall<Int>? = chain(integrator, length) { $1.nextSuccess($0) }
        var task = call?.call()
        await task?.finish()
        #expect(count == length)
        task?.cancel()
        #expect(await task?.outcome == .success(length - 1))
        weak let state = task?.execution
        #expect(state != nil)
        (call, task) = (nil, nil)
        #expect(state == nil)
    }
}
