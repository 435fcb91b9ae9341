import Foundation
import IDMCore
import IDMFiles
import IDMTesting
import TestSupport
import Testing

@testable import IDMCaching

/// What is heard through one of two caches of one partition, which know no more of one another than two processes do.
@MainActor
@Suite("What is heard through caches that share a partition", .fewAtOnce, .timeLimit(.ample))
struct SharedHearingTests: PartitionTests {
    let partition: Partition

    init() throws {
        partition = try Partition()
    }

    @Test("Once what another has written was heard, nobody hears an older answer", arguments: [false, true])
    func newerFromElsewhere(isKnown: Bool) async throws {
        let ledgers = try await settled {
            let (first, second) = (try open(), try open())
            if isKnown { try await first.set("before", for: "key") }
            let remote = ControlledDataProvider<String, String>()
            let provider = remote.cached(in: first, policy: .remoteOnly)
            let late = Task { try await provider.request("key") }
            let request = try await remote.waitForRequest()
            try await second.write("new", for: "key")
            for _ in 0..<2 { #expect(try await provider.policy(.cacheOnly).request("key") == "new") }
            request.answer("old")
            #expect(try await late.value == "new")
            #expect(await first.get("key")?.value == "new")
            // What is asked for from now on is newer, wherever it is kept.
            let next = Task { try await provider.request("key") }
            try await remote.waitForRequest().answer("newest")
            #expect(try await next.value == "newest")
            #expect(await second.get("key")?.value == "newest")
            return [first.ledger, second.ledger]
        }
        for ledger in ledgers { #expect(ledger.isEmpty) }
    }

    @Test("What is in memory is heard before the answer, also on no actor, and however quick that is")
    func inMemory() async throws {
        let cache = try open(memory: 10)
        let provider = ValueDataProvider<String, String>("new").cached(in: cache)
        for round in 0..<100 {
            try await cache.write("old \(round)", for: "key")
            var values: [String] = []
            for try await value in provider.values(for: "key") { values.append(value) }
            #expect(values == ["old \(round)", "new"])
        }
    }

    @Test("What another has written before the question keeps no answer from being heard")
    func olderFromElsewhere() async throws {
        let (first, second) = (try open(), try open())
        try await second.write("old", for: "key")
        let remote = ControlledDataProvider<String, String>()
        let provider = remote.cached(in: first, policy: .remoteOnly)
        let answered = Task { try await provider.request("key") }
        let request = try await remote.waitForRequest()
        #expect(try await provider.policy(.cacheOnly).request("key") == "old")
        request.answer("new")
        #expect(try await answered.value == "new")
        #expect(await second.get("key")?.value == "new")
    }

    @Test(
        "What was heard and then invalidated is followed by nothing older, though nothing was in its place",
        arguments: [false, true])
    func revokedWhereNothingWas(isFull: Bool) async throws {
        let files = FaultyFiles()
        let first = try open(files, memory: nil)
        let second = try open()
        try await first.set("value", for: "other")
        #expect(await second.get("other") != nil)
        let older = second.ledger.permit(for: "key")
        let newer = first.ledger.permit(for: "key")
        let entry = first.ledger.entry("new", tags: ["tag"])
        #expect(newer.answer(entry) == nil)
        try await first.invalidate(tag: "tag")
        // There is space for the entry, and none to tell of its removal beside it.
        if isFull { files.before(next: .lock) { files.fillUp(ofWrites: true) } }
        try await first.set(entry, for: "key", permit: newer)
        try await second.set(second.ledger.entry("old"), for: "key", permit: older)
        #expect(await first.get("key") == nil)
        #expect(await second.get("key") == nil)
        #expect(await first.get("other") != nil)
    }

    @Test("nor is what was asked for while another wiped, and could not land for that")
    func askedDuringWipe() async throws {
        let files = FaultyFiles()
        let first = try open()
        let second = try open(files, memory: nil)
        try await first.set("value", for: "other")
        try await second.set("value", for: "another")
        let permits = Shared<[CachePermit<String, String>]>([])
        // The first cache misses a journal altogether.
        try await second.wipe()
        // Both are asked once the wipe was, and before it is over.
        files.before(next: .names) {
            permits.value = [second.ledger.permit(for: "key"), first.ledger.permit(for: "key")]
        }
        try await second.wipe()
        let (older, newer) = (try #require(permits.value.first), try #require(permits.value.last))
        permits.value = []
        let entry = first.ledger.entry("newer")
        #expect(newer.answer(entry) == nil)
        try await first.set(entry, for: "key", permit: newer)
        try await second.set(second.ledger.entry("older"), for: "key", permit: older)
        #expect(await first.get("key")?.value != "older")
        #expect(await second.get("key")?.value != "older")
    }

    @Test(
        "What another has told, and was kept from making, leaves nothing older behind what was heard here",
        arguments: [FileFault.Call.rename, .remove], [false, true])
    func toldAndNotMade(call: FileFault.Call, isKilled: Bool) async throws {
        let files = FaultyFiles()
        let (first, second) = (try open(), try open(files))
        try await first.set("old", for: "key")
        #expect(await second.get("key")?.value == "old")
        let permit = first.ledger.permit(for: "key")
        let entry = first.ledger.entry("new")
        files.before(next: call) { files.fail(0, EIO, staysDead: isKilled) }
        await #expect(throws: DiskCacheError.self) {
            if call == .rename { try await second.set("newest", for: "key") } else { try await second.remove("key") }
        }
        #expect(permit.answer(entry) == nil)
        await first.keep(entry, for: "key", permit: permit)
        // What was to be written and isn't there keeps nothing else out. What was to be removed does.
        let isWritten = call == .rename
        #expect(outcomes.words.last == (isWritten ? "written key" : "dropped key"))
        for cache in [first, try open()] { #expect(await cache.get("key")?.value == (isWritten ? "new" : nil)) }
    }
}
