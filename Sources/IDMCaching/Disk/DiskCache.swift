public import Foundation
internal import Synchronization

/// Entries on a disk, which outlive the process.
///
/// ```swift
/// let disk = try DiskCache<String, [User]>(folder: url, partition: "user-42")
/// ```
///
/// One file an entry, for this user alone, whose name says nothing of the key. An entry is written beside its place and
/// renamed into it: who reads finds the whole old one or the whole new one, whatever happens to the process that writes.
/// Two processes may share a folder. The work is done on threads of the cache's own.
///
/// Nothing is read and no folder is made before it is needed. An entry that is damaged, not whole, not ours or written by
/// a newer version is a miss: it is moved aside and told to the hook. Reading never throws.
///
/// With a `memoryLimit` the entries that were used last are in memory as well, and are heard in the turn in which they are
/// asked for. What another process writes is then not seen while an entry is in memory.
///
/// An entry that was written before a step of the clock is stale; see ``CacheClock``.
public final class DiskCache<Key: Hashable & Sendable, Value: Codable & Sendable>: CacheStore {
    public let ledger: CacheLedger<Key, Value>

    private let folder: DiskFolder
    private let lanes = DiskLanes()
    private let memory: MemoryCache<Key, Value>?
    private let sweeps = Sweeps()
    private let coding: CacheCoding<Value>
    private let text: @Sendable (Key) -> String
    private let digest: @Sendable ([UInt8]) -> Digest

    /// Opens a cache.
    ///
    /// - Parameters:
    ///   - folder: Where the cache has its files. Made when it is needed. Caches of different values need folders, or
    ///     partitions, of their own.
    ///   - partition: Whose entries these are: those of one user or tenant, none of whom sees another's. Its name is no
    ///     part of a path.
    ///   - byteLimit: How long the files may be together. The least recently used entries go first. Nil for any length.
    ///   - entryLimit: How many entries there may be. Nil for any number. What another process adds is counted when the
    ///     folder is looked through: at the first write, and whenever a bound is passed.
    ///   - memoryLimit: How many entries are kept in memory, too. Nil for none.
    ///   - durability: What a written entry survives.
    ///   - coding: How values become bytes.
    ///   - clock: What the cache takes its time from.
    ///   - text: What tells a key from all others, as text. It is kept in the entry.
    ///   - onOutcome: Hears of everything that becomes of requests and entries. See ``CachingOutcome``.
    /// - Throws: ``DiskCacheError`` if the URL isn't that of a file, or if a limit is less than one.
    public convenience init(
        folder: URL, partition: String? = nil, byteLimit: Int? = nil, entryLimit: Int? = nil,
        memoryLimit: Int? = nil, durability: CacheDurability = .process, coding: CacheCoding<Value> = .json,
        clock: CacheClock = .system,
        text: @escaping @Sendable (Key) -> String, onOutcome: (@Sendable (CachingOutcome<Key>) -> Void)? = nil
    ) throws {
        try self.init(
            folder: folder, partition: partition, bounds: DiskBounds(bytes: byteLimit, entries: entryLimit),
            memoryLimit: memoryLimit, durability: durability, coding: coding,
            ledger: CacheLedger(clock: clock, onOutcome: onOutcome), files: POSIXFiles(), text: text)
    }

    init(
        folder: URL, partition: String?, bounds: DiskBounds, memoryLimit: Int? = nil, durability: CacheDurability,
        coding: CacheCoding<Value>, ledger: CacheLedger<Key, Value>, files: any FileLayer,
        text: @escaping @Sendable (Key) -> String,
        digest: @escaping @Sendable ([UInt8]) -> Digest = { Digest(of: $0) }
    ) throws {
        let path = folder.standardizedFileURL.path
        guard folder.isFileURL, path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw DiskCacheError.notAFolder(folder.isFileURL ? path : folder.scheme ?? "")
        }
        for case let bound? in [bounds.bytes, bounds.entries, memoryLimit] where bound < 1 {
            throw DiskCacheError.boundTooSmall(bound)
        }
        let name = partition.map { "partition-" + Digest(of: Self.bytes(of: $0)).hex } ?? "shared"
        self.folder = DiskFolder(
            parents: Self.parents(of: path), path: path + "/" + name, bounds: bounds,
            isPowerSafe: durability == .power, files: files, process: ProcessInfo.processInfo.processIdentifier)
        self.ledger = ledger
        memory = memoryLimit.map { MemoryCache(countLimit: $0, clock: ledger.clock) }
        self.coding = coding
        self.text = text
        self.digest = digest
    }

    /// A path and everything above it, outermost first.
    private static func parents(of path: String) -> [String] {
        let parts = path.split(separator: "/")
        return parts.indices.map { "/" + parts[...$0].joined(separator: "/") }
    }

    // MARK: Reading

    /// The entry of a key, whatever its age. Nil as well where it can't be read, which the hook hears.
    public func get(_ key: Key) async -> CacheEntry<Value>? {
        if let entry = memory?.get(key) { return entry }
        let name = name(of: key)
        return await lanes.run(name.digest) {
            let sweep = self.sweeps.value
            let entry = self.read(key, name)
            // What is read while something is removed could be what is to go.
            if let entry { self.memory?.put(entry, key) { self.sweeps.isStill(sweep) } }
            return entry
        }
    }

    private func read(_ key: Key, _ name: Name) -> CacheEntry<Value>? {
        do {
            switch try folder.read(name.digest, name.text) {
            case .nothing: return nil
            case .damaged(let damage):
                ledger.report(.damaged(key, damage))
                return nil
            case .entry(let record, let file, let range):
                guard let value = try? coding.decode(Data(file[range])) else {
                    folder.moveAside(name.digest)
                    ledger.report(.damaged(key, .undecodable))
                    return nil
                }
                let stamp = CacheStamp(time: .nanoseconds(record.time), era: record.era)
                return CacheEntry(value, stamp: stamp, tags: Set(record.tags))
            }
        } catch {
            ledger.report(.failed(key, DiskCacheError(error, in: folder.path)))
            return nil
        }
    }

    // MARK: Writing

    /// Writes a value that did not come from a request. See ``CacheStore/write(_:for:tags:)``.
    ///
    /// - Throws: ``DiskCacheError``. What was there before is there still; only where a folder could not be synchronized
    ///   the new entry is there already, and whole.
    public func set(_ value: Value, for key: Key, tags: Set<String> = []) async throws {
        try await write(value, for: key, tags: tags)
    }

    /// Writes an entry, if the permit allows it.
    ///
    /// - Throws: ``DiskCacheError``. What was there before is there still; only where a folder could not be synchronized
    ///   the new entry is there already, and whole.
    public func set(_ entry: CacheEntry<Value>, for key: Key, permit: CachePermit<Key, Value>) async throws {
        let name = name(of: key)
        try await lanes.run(name.digest) {
            Result { try self.write(entry, key, name, permit) }
        }.get()
    }

    private func write(
        _ entry: CacheEntry<Value>, _ key: Key, _ name: Name, _ permit: CachePermit<Key, Value>
    ) throws {
        let record = DiskRecord(
            digest: name.digest, time: entry.stamp.time.nanoseconds, era: entry.stamp.era,
            key: name.text, tags: entry.tags.sorted())
        let value: Data
        do {
            value = try coding.encode(entry.value)
        } catch {
            throw DiskCacheError.notEncodable("\(error)")
        }
        guard let file = record.file(with: value) else { throw DiskCacheError.tooLong }
        do {
            switch try folder.write(file, name.digest, if: { permit.claim(entry) }) {
            case .landed: memory?.set(entry, for: key, permit: permit)
            case .refused: break
            case .wiped:
                memory?.remove(key)
                permit.lose()
            }
        } catch {
            // The new one can be there nevertheless. The disk knows.
            memory?.remove(key)
            throw DiskCacheError(error, in: folder.path)
        }
        trim()
    }

    /// Keeps the bounds. What fails here fails no write: the entry is there.
    private func trim() {
        do {
            let removed = try folder.trim()
            if removed > 0 { ledger.report(.evicted(count: removed, .bounds)) }
        } catch {
            ledger.report(.failed(nil, DiskCacheError(error, in: folder.path)))
        }
    }

    // MARK: Removing

    /// Removes the entry of a key. What was asked for before does not land afterwards.
    public func remove(_ key: Key) async throws {
        ledger.invalidate(key)
        sweeps.begin()
        defer { sweeps.end() }
        memory?.remove(key)
        let name = name(of: key)
        try await lanes.run(name.digest) { self.typed { () throws(FileFault) in try self.folder.remove(name.digest) } }
            .get()
    }

    /// Removes the entries that bear a tag, for which every entry is read. What was asked for before does not land with
    /// that tag afterwards.
    public func removeAll(tagged tag: String) async throws {
        ledger.invalidate(tag: tag)
        sweeps.begin()
        defer { sweeps.end() }
        memory?.removeAll(tagged: tag)
        try await lanes.runAfterAll { self.typed { () throws(FileFault) in try self.folder.removeAll(tagged: tag) } }
            .get()
    }

    /// Removes all entries of this partition, and what was moved aside. What was asked for before does not land
    /// afterwards, also if it is being written.
    public func removeAll() async throws {
        ledger.invalidateAll()
        sweeps.begin()
        defer { sweeps.end() }
        memory?.removeAll()
        try await lanes.runAfterAll { self.typed { () throws(FileFault) in try self.folder.removeAll() } }.get()
    }

    /// Forgets a user or a tenant: all entries of this partition, on the disk, in memory, and on their way to either.
    ///
    /// For the moment when somebody signs out. Writes of other processes that share the folder are not waited for.
    public func wipe() async throws {
        try await removeAll()
    }

    private func typed(_ body: () throws(FileFault) -> Void) -> Result<Void, DiskCacheError> {
        do {
            return .success(try body())
        } catch {
            return .failure(DiskCacheError(error, in: folder.path))
        }
    }

    // MARK: Names

    private struct Name: Sendable {
        let digest: Digest
        let text: [UInt8]
    }

    private func name(of key: Key) -> Name {
        let bytes = Self.bytes(of: text(key))
        return Name(digest: digest(bytes), text: bytes)
    }

    /// Equal texts have to have equal bytes, however they were typed.
    private static func bytes(of text: String) -> [UInt8] {
        let isPlain = text.utf8.allSatisfy { $0 < 0x80 }
        return Array((isPlain ? text : text.precomposedStringWithCanonicalMapping).utf8)
    }
}

/// Tells a read whether anything has been removed while it was under way.
private final class Sweeps: Sendable {
    private let state = Mutex((running: 0, ended: 0))

    /// How many have ended. Nil while any is running.
    var value: Int? {
        state.withLock { $0.running == 0 ? $0.ended : nil }
    }

    func isStill(_ value: Int?) -> Bool {
        value != nil && self.value == value
    }

    func begin() {
        state.withLock { $0.running += 1 }
    }

    func end() {
        state.withLock { $0 = ($0.running - 1, $0.ended + 1) }
    }
}

/// What an entry on disk survives, once it was written.
public enum CacheDurability: Sendable, Hashable {
    /// That the process is killed. What was written last may be lost if the power goes, and is a miss then.
    case process
    /// That the power goes, too: each write waits for the disk.
    case power
}

extension DiskCache where Key: LosslessStringConvertible {
    /// Opens a cache whose keys are texts, numbers, or anything else that can be written as text and read again.
    ///
    /// The parameters are those of the other initializer.
    public convenience init(
        folder: URL, partition: String? = nil, byteLimit: Int? = nil, entryLimit: Int? = nil,
        memoryLimit: Int? = nil, durability: CacheDurability = .process, coding: CacheCoding<Value> = .json,
        clock: CacheClock = .system,
        onOutcome: (@Sendable (CachingOutcome<Key>) -> Void)? = nil
    ) throws {
        try self.init(
            folder: folder, partition: partition, byteLimit: byteLimit, entryLimit: entryLimit,
            memoryLimit: memoryLimit, durability: durability, coding: coding, clock: clock, text: { $0.description },
            onOutcome: onOutcome)
    }
}
