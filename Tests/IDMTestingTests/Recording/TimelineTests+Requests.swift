import IDMCore
import IDMTesting
import TestSupport
import Testing

/// Tests of which requests a source sends to.
extension TimelineTests {
    @Test("A source sends each value to all open requests, oldest first")
    func severalRequests() async throws {
        for _ in 0..<50 {
            try await TestScope.run {
                let log = Log()
                await Timeline.expect(source: "a-(bc)-|", delivers: "----([2c]|)") { source, _ in
                    Self.twice(source, log).map { "\($0.1)" }
                }
                try #require(log.entries == ["1a", "2a", "1b", "2b", "1c", "2c"])
                await Timeline.expect(source: "a-!", delivers: "--(!|)") { source, _ in Self.twice(source, log) }
            }
        }
    }

    /// Asks its source twice at once.
    private static func twice(
        _ source: ControlledStreamDataProvider<Void, String>, _ log: Log
    ) -> some DataProvider<Void, (String, String)> {
        let (first, second) = (Noting(name: "1", source: source, log: log), Noting(name: "2", source: source, log: log))
        return (first >><< second).mapInput { (_: Void) in ((), ()) }
    }

    /// Answers with the last value, and notes each of them under its name.
    private struct Noting: DataProvider {
        let name: String
        let source: ControlledStreamDataProvider<Void, String>
        let log: Log

        func request(_ input: Void) async throws -> String {
            var (values, last) = (source.values(for: ()).makeAsyncIterator(), "")
            while let value = try await values.next(isolation: #isolation) {
                last = name + value
                log.add(last)
            }
            return last
        }
    }

    @Test("A source sends a value to a request of the same tick")
    func requestsInATick() async throws {
        try await TestScope.run {
            await Timeline.expect(source: "(!b)-c|", delivers: "b-c|") { source, _ in source.fallback(to: source) }
            await Timeline.expect(source: "(!b)-|", delivers: "--([[\"b\", \"b\", \"b\"]]|)") { source, _ in
                source.fallback(to: source).each(limit: 3).mapInput { (_: Void) in [(), (), ()] }
            }
        }
    }

    @Test("A source sends no earlier value to a later request")
    func laterRequests() async throws {
        try await TestScope.run {
            await Timeline.expect(source: "!-b-|", delivers: "--b-|") { source, clock in
                source.retry(1, delay: .constant(Timeline.tick), clock: clock)
            }
            await Timeline.expect(source: "!a!", delivers: "-a(!|)") { source, clock in source.retry(1, clock: clock) }
            await Timeline.expect(source: "a-|b-|", delivers: "a--b-|") { source, _ in source.merged(with: source) }
            await Timeline.expect(source: "ab-|c", delivers: "ab") { source, clock in
                source.merged(with: source.delay(Timeline.tick * 4, clock: clock))
            }
        }
    }

    @Test("A source that has ended sends no end to a later request")
    func requestsAfterTheEnd() async throws {
        try await TestScope.run {
            await Timeline.expect(source: "a-|", delivers: "a") { source, _ in source.merged(with: source) }
            // Heard again each time, the failure would have no end.
            await Timeline.expect(source: "!", delivers: "") { source, clock in
                source.retry(.max, delay: .constant(Timeline.tick), clock: clock)
            }
        }
    }
}
