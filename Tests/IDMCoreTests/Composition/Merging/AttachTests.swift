import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite(.timeLimit(.ample))
struct AttachTests {
    private let main = ControlledDataProvider<Int, Int>()
    private let side = ControlledDataProvider<Int, Int>()

    @Test(arguments: [false, true])
    func `a side provider gets the input and outlives the request`(baseFails: Bool) async throws {
        let base = FailingAtFirst(baseFails ? 1 : 0)

        _ = try? await base.attached(side).request(2)

        let request = try await side.waitForRequest()
        #expect(request.input == 2 && !request.isCancelled)
        request.fail(Trouble.first)
        try await request.waitUntilEnded()
    }

    private static let compositions:
        [(
            name: String,
            compose:
                @Sendable (
                    AttachDataProvider<Echo<Int>, ControlledDataProvider<Int, Int>>, ControlledDataProvider<Int, Int>
                )
                -> any DataProvider<Int, Int>
        )] = [
            ("sequence", { $0 >>>> $1 }),
            ("nested sequence", { ($0 >>>> Doubler()) >>>> $1 }),
            ("map", { attached, next in attached.map { try await next.request($0) } }),
            ("group", { ($0 >><< $1).mapInput { ($0, $0) }.map { $0.0 } }),
            ("fallback", { ($0 >>>> Failing(Trouble.first)).fallback(to: $1) }),
        ]

    @Test(arguments: compositions.indices)
    func `a composition cancelled after the base has answered cancels the side provider`(index: Int) async throws {
        let provider = Self.compositions[index].compose(Echo<Int>().attached(side), main)
        let task = Task { try await provider.request(2) }
        let (next, request) = (try await main.waitForRequest(), try await side.waitForRequest())

        task.cancel()

        try await request.waitUntilCancelled()
        next.answer(1)
        _ = await task.result
    }

    @Test(arguments: [false, true])
    func `leaving a stream before its end cancels the side provider`(ends: Bool) async throws {
        var values: ProviderValues<Int>.Iterator? = Listed(1, 2).attached(side).values(for: 0).makeAsyncIterator()
        _ = try await values?.next()
        let request = try await side.waitForRequest()
        if ends { while try await values?.next() != nil {} }

        values = nil

        #expect(request.isCancelled == !ends && side.requestCount == 1)
    }

    @Test func `a side provider reports no progress`() async throws {
        let log = ProgressLog()
        _ = try await log.reporter.ambient { [side] in try await Doubler().attached(side).request(1) }

        #expect(try await side.waitForRequest().reporter == nil && log.fractions.isEmpty)
    }
}
