import Foundation
import IDMFiles
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// A response that was replaced, or is invalid, never comes back from the folder.
extension HTTPCacheTests {
    /// What supersedes a stored response.
    enum Superseding: CaseIterable, Sendable {
        case newer, newerForMemory, invalidation, wipe

        func perform(on cache: HTTPCache) async {
            switch self {
            case .newer: cache.keep("new")
            case .newerForMemory: cache.keep("new", isForDisk: false)
            case .invalidation: cache.invalidate([CacheVersion.request.address])
            case .wipe: try? await cache.removeAll()
            }
            await cache.folder?.settle()
        }
    }

    /// A cache with nothing in memory, in a folder that has a response.
    private func cache(in folder: CacheFolder) -> HTTPCache { HTTPCache(byteLimit: 1 << 20, folder: folder) { 0 } }

    @Test(
        "a superseded response isn't read again, whichever call on files fails", arguments: Superseding.allCases,
        [nil, .open, .write, .rename, .remove] as [FileFault.Call?])
    func superseded(by superseding: Superseding, failing: FileFault.Call?) async throws {
        let (scratch, files) = (try TemporaryFolder(), FaultyFiles())
        let folder = CacheFolder(scratch.url, byteLimit: 1 << 20, files: files)
        let writing = cache(in: folder)
        writing.keep("old")
        await folder.settle()
        #expect(await cache(in: folder).text == "old")

        files.fail(each: failing)
        await superseding.perform(on: writing)
        files.fail(each: nil)

        let found = await cache(in: folder).text
        #expect(superseding == .newer && failing == nil ? found == "new" : found != "old")
    }

    @Test("a response read from the folder replaces no newer one in memory")
    func overtakenRead() async throws {
        for superseding in [Superseding.newer, .invalidation] {
            let (scratch, files) = (try TemporaryFolder(), FaultyFiles())
            let folder = CacheFolder(scratch.url, byteLimit: 1 << 20, files: files)
            let cache = cache(in: folder)
            folder.replace([CacheVersion.old], of: CacheVersion.request.address)
            await folder.settle()
            files.before(.read) {
                if superseding == .newer {
                    cache.keep("new")
                } else {
                    cache.invalidate([CacheVersion.request.address])
                }
            }

            _ = await cache.stored(for: CacheVersion.request)

            #expect(cache.inMemory(for: CacheVersion.request)?.text == (superseding == .newer ? "new" : nil))
        }
    }

    @Test("responses that are kept at once are equal in memory and folder")
    func keptAtOnce() async throws {
        let scratch = try TemporaryFolder()
        for round in 0..<Volume.of(5_000, normally: 200) {
            let cache = cache(in: CacheFolder(scratch.url, byteLimit: 1 << 20))
            await withTaskGroup(of: Void.self) { group in
                for task in 0..<2 {
                    group.addTask { for number in 0..<10 { cache.keep("\(round) \(task) \(number)") } }
                }
                if round.isMultiple(of: 2) { group.addTask { cache.invalidate([CacheVersion.request.address]) } }
            }
            await cache.folder?.settle()

            let reopened = self.cache(in: CacheFolder(scratch.url, byteLimit: 1 << 20))
            try #require(await reopened.text == cache.inMemory(for: CacheVersion.request)?.text)
        }
    }
}

extension HTTPCache {
    fileprivate func keep(_ text: String, isForDisk: Bool = true) {
        keep(StoredResponse(text, isForDisk: isForDisk), for: CacheVersion.request, since: lastChange)
    }

    /// The text of the stored response.
    fileprivate var text: String? {
        get async { await stored(for: CacheVersion.request)?.text }
    }
}
