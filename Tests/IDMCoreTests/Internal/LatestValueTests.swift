import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite("A value that others follow", .timeLimit(.ample))
struct LatestValueTests {
    @Test("What was there before may set it as it goes")
    func before() async throws {
        let latest = LatestValue<Canary?>(nil)
        let log = Log()
        latest.set(
            Canary {
                latest.set(nil)
                log.add("gone")
            })
        latest.set(nil)
        #expect(log.entries == ["gone"])
        #expect(await latest.next(after: 0)?.version == 4)
    }
}
