import IDMCore
import IDMTesting
import TestSupport
import Testing

@testable import IDMCaching

@Suite("While a disk cache works", .fewAtOnce, .timeLimit(.ample))
struct WatchedDiskTests {
    private let folder: TemporaryFolder
    private let files = FaultyFiles()

    init() throws { folder = try TemporaryFolder() }

    /// A provider behind a disk cache, which takes a second if it is asked.
    private func provider(_ policy: CachePolicy, _ clock: ManualClock) throws -> some DataProvider<String, String> {
        let store = try DiskCache<String, String>(
            folder: folder.url, partition: nil, bounds: DiskBounds(), durability: .process, coding: .json,
            ledger: CacheLedger(), files: files, text: { $0 })
        return ClosureDataProvider<String, String> { $0 }.delay(.seconds(1), clock: clock).cached(
            in: store, policy: policy)
    }

    @Test(
        "nothing is at rest for a clock, and then all is told",
        arguments: [CachePolicy.remoteElseCache, .cacheElseRemote(maxAge: .zero)])
    func isWatched(policy: CachePolicy) async throws {
        try await TestScope.run {
            let (clock, log, known) = (ManualClock(), Log(), Observed<[Bool]>([]))
            let integrator = Integrator(try provider(policy, clock))
            files.beforeEach { _ in known.change { $0.append(!clock.isAtRest) } }
            await onMain(integrator.prepareCall("a"), log)
            await clock.advance(by: .seconds(1))
            #expect(log.entries == ["a", "end"])
            integrator.prepareCall("b").onSuccess { log.add($0) }.onCompletion { log.add("end") }.call()
            await clock.advance(by: .seconds(1))
            #expect(log.entries == ["a", "end", "b", "end"])
            #expect(!known.value.isEmpty && !known.value.contains(false))
        }
    }

    @MainActor
    private func onMain(_ call: IntegrationCall<String>, _ log: Log) {
        call.onSuccess { log.add($0) }.onCompletion { log.add("end") }.call()
    }
}
