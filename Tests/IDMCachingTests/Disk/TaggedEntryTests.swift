import IDMCore
import IDMTesting
import TestSupport
import Testing

@testable import IDMCaching

@Suite("An entry on disk that bears a tag", .fewAtOnce, .timeLimit(.ample))
struct TaggedEntryTests {
    @Test(
        "is found though more tags were invalidated than are told apart, none of which it bears",
        arguments: [false, true])
    func manyTags(staysBusy: Bool) async throws {
        let folder = try TemporaryFolder()
        let disk = try DiskCache<String, String>(folder: folder.url, memoryLimit: 10)
        try await disk.set("value", for: "key", tags: ["mine"])
        let provider = ClosureDataProvider { (_: String) async throws -> String in throw Offline() }.cached(in: disk)
        // Something is under way for another key, for a while.
        var other: CachePermit<String, String>? = disk.ledger.permit(for: "other")
        for number in 0..<10_000 { disk.ledger.invalidate(tag: "\(number)") }
        if !staysBusy { other = nil }
        #expect(disk.ledger.isEmpty == !staysBusy)
        #expect(try await provider.policy(.cacheOnly).request("key") == "value")
        #expect(try await provider.policy(.remoteElseCache).request("key") == "value")
        withExtendedLifetime(other) {}
    }
}
