import Foundation
import IDMTesting
import TestSupport
import Testing

@testable import IDMCaching

/// A child process writes and is killed in the middle of it, again and again.
@Suite("A writer that is killed", .offThePool, .timeLimit(.ample), .serialized)
struct KilledWriterTests {
    static let keys = 4

    /// A value of which every byte can be told from those of others.
    struct Value: Codable, Equatable, Sendable {
        let version: Int
        let filling: [Int]

        init(_ version: Int) {
            self.version = version
            filling = Array(repeating: version, count: 50 + version % 2_000)
        }

        var isWhole: Bool { self == Value(version) }
    }

    @Test(
        "After each kill every entry is the whole old value or the whole new one",
        arguments: [CacheDurability.process, .power])
    func killed(durability: CacheDurability) async throws {
        let folder = try TemporaryFolder()
        let outcomes = Outcomes()
        var random = SplitMix(seed: 11)
        var least = Array(repeating: 0, count: Self.keys)
        var progress = 0
        let rounds = Volume.of(300, normally: 6)
        for round in 0..<rounds {
            let (path, isPower) = (folder.path, durability == .power)
            let delay = Int.random(in: 200...30_000, using: &random)
            await #expect(processExitsWith: .signal(SIGALRM)) {
                [path = path as String, isPower = isPower as Bool, delay = delay as Int] in
                try await KilledWriterTests.write(in: path, isPower, until: delay)
            }
            // Another process, as far as the files go.
            let cache = try DiskCache<Int, Value>(folder: folder.url, onOutcome: outcomes.hook())
            for key in 0..<Self.keys {
                guard let found = await cache.get(key) else {
                    #expect(least[key] == 0, "round \(round): an entry is lost")
                    continue
                }
                #expect(found.value.isWhole, "round \(round)")
                #expect(found.value.version >= least[key], "round \(round): an older value is back")
                progress += found.value.version > least[key] ? 1 : 0
                least[key] = found.value.version
            }
            // The next writer sweeps up what the last one has left.
            try await DiskCache<Int, Value>(folder: folder.url).set(Value(0), for: -1)
            #expect(folder.unfinished == [], "round \(round)")
        }
        #expect(outcomes.count("damaged") == 0 && outcomes.count("failed") == 0)
        #expect(progress == rounds * Self.keys)
    }

    @Test(
        "Killed at every single call of a write, a removal and a wipe, there is the old or the new, and it goes on",
        arguments: Volume.isFull ? [CacheDurability.process, .power] : [.power], KilledWork.allCases)
    func killedAtEachCall(durability: CacheDurability, work: KilledWork) async throws {
        let folder = try TemporaryFolder()
        let outcomes = Outcomes()
        var call = 0
        while true {
            try await DiskCache<Int, Value>(folder: folder.url).set(Value(1), for: 0)
            let (path, isPower, number, name) = (folder.path, durability == .power, call, work.rawValue)
            let result = await #expect(processExitsWith: .failure) {
                [path = path as String, isPower = isPower as Bool, number = number as Int, name = name as String] in
                try await KilledWriterTests.work(in: path, isPower, name, killedAt: number)
            }
            // Another process, as far as the files go.
            let cache = try DiskCache<Int, Value>(folder: folder.url, entryLimit: 50, onOutcome: outcomes.hook())
            let found = await cache.get(0)?.value
            switch work {
            case .write, .firstWrite, .evict: #expect(found == Value(1) || found == Value(2), "\(call)")
            case .remove, .wipe: #expect(found == Value(1) || found == nil, "\(call)")
            }
            try await cache.set(Value(3), for: 0)
            #expect(await cache.get(0)?.value == Value(3), "\(call)")
            #expect(folder.unfinished == [], "\(call)")
            guard result?.exitStatus == .signal(SIGKILL) else { break }
            // A disk that dies at every one of them costs less, and stands among what a disk can do.
            call += Volume.of(1, normally: 3)
        }
        #expect(call > 3)
        #expect(outcomes.count("damaged") == 0 && outcomes.count("failed") == 0)
    }

    enum KilledWork: String, CaseIterable, Sendable {
        case write, firstWrite, evict, remove, wipe
    }

    /// Runs in the child: works until it comes to a call of the system, and ends there as if it were killed.
    private static func work(in path: String, _ isPower: Bool, _ name: String, killedAt call: Int) async throws {
        let files = FaultyFiles()
        let work = KilledWork(rawValue: name)
        let cache = try DiskCache<Int, Value>(
            folder: URL(fileURLWithPath: path), partition: nil,
            bounds: DiskBounds(entries: work == .evict ? 3 : 100), durability: isPower ? .power : .process,
            coding: .json, ledger: CacheLedger(), files: files, text: { "\($0)" })
        if work != .firstWrite {
            // What has to go is older than what is looked for.
            for key in [1, 2, 0] { try await cache.set(Value(1), for: key) }
        }
        files.beforeEach { if $0 == call { kill(getpid(), SIGKILL) } }
        switch work {
        case .write, .firstWrite: try await cache.set(Value(2), for: 0)
        case .evict: try await cache.set(Value(2), for: 3)
        case .remove: try await cache.remove(0)
        case .wipe, nil: try await cache.wipe()
        }
        exit(7)
    }

    /// Runs in the child: writes until the alarm goes off, whose default is to end the process on the spot. Everything
    /// has been written once before that is set, however slow the machine is.
    private static func write(in path: String, _ isPower: Bool, until delay: Int) async throws {
        let cache = try DiskCache<Int, Value>(
            folder: URL(fileURLWithPath: path), entryLimit: 100, durability: isPower ? .power : .process)
        var last = 0
        for key in 0..<keys { last = max(last, await cache.get(key)?.value.version ?? 0) }
        var isSet = false
        while true {
            let first = last
            try await withThrowingTaskGroup { group in
                for key in 0..<keys { group.addTask { try await cache.set(Value(first + 1 + key), for: key) } }
                try await group.waitForAll()
            }
            last += keys
            if !isSet { _ = ualarm(.init(delay), 0) }
            isSet = true
        }
    }
}
