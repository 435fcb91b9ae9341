public import Foundation
internal import IDMFiles

/// Entries on a disk, which outlive the process.
///
/// ```swift
/// let disk = try DiskCache<String, [User]>(folder: url, partition: "user-42")
/// ```
///
/// One file an entry, for this user alone, whose name says nothing of the key. An entry is written beside its place and
/// renamed into it: who reads finds the whole old one or the whole new one, whatever happens to the process that
/// writes. The work is done on threads of the cache's own.
///
/// Nothing is read and no folder is made before it is needed. An entry that is damaged, not whole, not ours or written
/// by a newer version is a miss: it is moved aside and told to the hook. Reading never throws.
///
/// With a `memoryLimit` the entries that were used last are in memory as well, and are heard in the turn in which they
/// are asked for.
///
/// Two processes may share a partition, and so may two caches in one process. What holds in one then holds in all of
/// them: once a write, a removal, an invalidation or a wipe has ended, nobody hears what was there before, not from
/// memory either; an older answer doesn't take the place of a newer one; what was asked for before a removal doesn't
/// land after it; the bounds count everybody's entries, and each process keeps those that it was opened with. Not
/// shared are requests on their way, and the hook hears of its own process alone. A removal from a partition into which
/// nobody has written yet is told to nobody. Where the file system knows of no locks, as that of some networks, no more
/// is promised than that entries are whole.
///
/// A partition is locked while something is written or removed, for as long as it takes to remove all files in a wipe;
/// with a `memoryLimit` also for a moment of each read that goes to the disk; and when others have changed something.
/// Writes and removals wait for a process that has locked it, also for one that is stopped. Reads don't, and a request
/// that has its answer ends before its write does then.
/// iOS may end an app that is suspended just then, with the code `0xdead10cc`. Who still uses a cache on the way to the
/// background asks for the time to do so: in an app with `beginBackgroundTask`, in an extension with
/// `performExpiringActivity`.
///
/// The folder may be reached through a symbolic link, as the temporary folder of a Mac is. A link beneath it is never
/// followed: in the place of the partition's folder it is refused with ``DiskCacheError/notAFolder(_:)``, and in that of
/// anything else it is put aside. A journal that has a second name is replaced, and isn't written to.
///
/// A folder that is moved away while a cache is open is missed when the cache next goes to its disk: until then it
/// hears what is in memory.
///
/// An entry that was written before a step of the clock is stale; see ``CacheClock``.
public final class DiskCache<Key: Hashable & Sendable, Value: Codable & Sendable>: CacheStore {
    public let ledger: CacheLedger<Key, Value>

    private let folder: DiskFolder
    private let lanes = DiskLanes()
    private let memory: MemoryCache<Key, Kept>?
    private let landings = Landings()
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
    ///   - byteLimit: How long the files may be together. The least recently used entries go first, and an entry that
    ///     is longer by itself is refused. Lengths are counted, not blocks: an entry of a hundred bytes takes a block of
    ///     the volume, often 4 KB. Many small entries are better bounded by `entryLimit`. Nil for any length.
    ///   - entryLimit: How many entries there may be. Nil for any number.
    ///   - memoryLimit: How many entries are kept in memory, too. Nil for none.
    ///   - durability: What a written entry survives.
    ///   - coding: How values become bytes.
    ///   - clock: What the cache takes its time from.
    ///   - text: What tells a key from all others, as text; the same for equal keys. It is kept in the entry.
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
        let name = partition.map { "partition-" + Digest(of: CanonicalText.bytes(of: $0)).hex } ?? "shared"
        let memory = memoryLimit.map { MemoryCache<Key, Kept>(countLimit: $0, clock: ledger.clock) }
        self.folder = DiskFolder(
            parents: Self.parents(of: path), path: path + "/" + name, bounds: bounds,
            isPowerSafe: durability == .power, files: files, process: ProcessInfo.processInfo.processIdentifier,
            othersHook: { news in
                switch news {
                case .anything: memory?.take { _ in true }
                case .entries(let digests, let tagged):
                    memory?.take { digests.contains($0.value.digest) || (tagged && !$0.tags.isEmpty) }
                }
            })
        self.ledger = ledger
        self.memory = memory
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
        if let entry = remembered(key) { return entry }
        let name = name(of: key)
        return await lanes.read(name.digest) {
            self.folder.tellUses(atLeast: 64)
            return self.remembered(key) ?? self.read(key, name)
        }
    }

    /// The entry in memory, unless another process may have changed it.
    private func remembered(_ key: Key) -> CacheEntry<Value>? {
        // In this order: what was there before the question is not what was changed before it.
        guard let memory, folder.journal.isCurrent, let kept = memory.get(key) else { return nil }
        folder.noteUse(kept.value.digest)
        return CacheEntry(kept.value.value, stamp: kept.stamp, tags: kept.tags, asked: kept.asked)
    }

    private func read(_ key: Key, _ name: Name) -> CacheEntry<Value>? {
        do {
            var edition: Int?
            var landing = 0
            func opened(_ current: Int?) {
                edition = current
                landing = landings.last(name.digest)
            }
            switch try folder.read(name.digest, name.text, edition: memory == nil ? nil : opened) {
            case .nothing: return nil
            case .damaged(let damage):
                ledger.report(.damaged(key, damage))
                return nil
            case .entry(let record, let file, let range):
                guard let value = try? coding.decode(Data(file[range])) else {
                    folder.moveAside(name.digest) { $0 == file }
                    ledger.report(.damaged(key, .undecodable))
                    return nil
                }
                let stamp = CacheStamp(time: .nanoseconds(record.time), era: record.era)
                let entry = CacheEntry(value, stamp: stamp, tags: Set(record.tags), asked: record.askedSinceStart)
                memory?.put(kept(entry, name, asked: entry.asked), key) {
                    folder.edition == edition && landings.last(name.digest) == landing
                }
                return entry
            }
        } catch {
            ledger.report(.failed(key, DiskCacheError(error, in: folder.path)))
            return nil
        }
    }

    // MARK: Writing

    /// Writes a value that did not come from a request. See ``CacheStore/write(_:for:tags:)``.
    ///
    /// - Throws: ``DiskCacheError``. What was there before is there still; only where a folder could not be
    ///   synchronized the new entry is there already, and whole, and where the entry is longer than the limit none is.
    public func set(_ value: Value, for key: Key, tags: Set<String> = []) async throws {
        try await write(value, for: key, tags: tags)
    }

    /// Writes an entry, if the permit allows it.
    ///
    /// - Throws: ``DiskCacheError``. What was there before is there still; only where a folder could not be
    ///   synchronized the new entry is there already, and whole, and where the entry is longer than the limit none is.
    public func set(_ entry: CacheEntry<Value>, for key: Key, permit: CachePermit<Key, Value>) async throws {
        let name = name(of: key)
        let progress = permit.writeProgress
        if let progress { folder.journal.holdUps.add(progress) }
        defer { if let progress { folder.journal.holdUps.remove(progress) } }
        try await lanes.run(name.digest) {
            Result { try self.write(entry, key, name, permit) }
        }.get()
        if folder.needsTrim { await lanes.runBeside { self.trim() } }
    }

    private func write(
        _ entry: CacheEntry<Value>, _ key: Key, _ name: Name, _ permit: CachePermit<Key, Value>
    ) throws {
        let record = DiskRecord(
            digest: name.digest, time: entry.stamp.time.nanoseconds, era: entry.stamp.era, asked: permit.number,
            start: MachineStart.current, key: name.text, tags: entry.tags.sorted())
        let value: Data
        do {
            value = try coding.encode(entry.value)
        } catch {
            throw DiskCacheError.notEncodable(unencodable(error, in: Value.self))
        }
        guard let file = record.file(with: value) else { throw DiskCacheError.tooLong }
        permit.answerIfNeeded(entry)
        let order = WriteOrder(digest: name.digest, tags: record.tags, asked: record.asked)
        if let limit = folder.bounds.bytes, file.count > limit {
            try refuse(order, entry, key, permit)
            throw DiskCacheError.longerThanLimit(file.count, limit: limit)
        }
        folder.tellUses(atLeast: 64)
        do {
            let landing = try folder.write(
                file, order,
                if: {
                    let mayLand = permit.claim(entry)
                    // What was opened before isn't kept in memory any more.
                    if mayLand { landings.add(name.digest) }
                    return mayLand
                }, orClearIf: { permit.mustClear(entry) })
            switch landing {
            case .landed(let edition):
                let isKept = memory?.put(kept(entry, name, asked: record.asked), key) {
                    folder.edition == edition && permit.claim(entry)
                }
                // Something has come between already. The disk knows.
                if isKept == false { memory?.remove(key) }
            case .refused: permit.refuse(by: self)
            case .cleared:
                memory?.remove(key)
                permit.refuse(by: self)
            case .unordered, .wiped:
                memory?.remove(key)
                permit.refuse(by: self)
                permit.loseOrder()
            }
        } catch {
            // The new one can be there nevertheless. The disk knows.
            memory?.remove(key)
            throw DiskCacheError(error, in: folder.path)
        }
    }

    /// Removes what an entry would have replaced that is too long to be kept.
    private func refuse(
        _ order: WriteOrder, _ entry: CacheEntry<Value>, _ key: Key, _ permit: CachePermit<Key, Value>
    ) throws(DiskCacheError) {
        defer { memory?.remove(key) }
        do throws(FileFault) {
            try folder.clear(order, if: { permit.claim(entry) || permit.mustClear(entry) })
        } catch {
            throw DiskCacheError(error, in: folder.path)
        }
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
        guard !Clearing.letsOff(self, key) else { return }
        ledger.invalidate(key)
        let asked = MachineTime.now
        // Also what was read while it was still there.
        defer { memory?.remove(key) }
        let name = name(of: key)
        try await lanes.run(name.digest) {
            self.typed { () throws(FileFault) in try self.folder.remove(name.digest, asked: asked) }
        }.get()
    }

    /// Removes the entries that bear a tag, for which every entry is read. What was asked for before does not land with
    /// that tag afterwards.
    public func removeAll(tagged tag: String) async throws {
        ledger.invalidate(tag: tag)
        let asked = MachineTime.now
        defer { memory?.removeAll(tagged: tag) }
        try await lanes.runAfterAll {
            self.typed { () throws(FileFault) in try self.folder.removeAll(tagged: tag, asked: asked) }
        }.get()
    }

    /// Removes all entries of this partition, and what was moved aside. What was asked for before does not land
    /// afterwards, also if it is being written.
    public func removeAll() async throws {
        ledger.invalidateAll()
        let asked = MachineTime.now
        defer { memory?.removeAll() }
        try await lanes.runAfterAll {
            self.typed { () throws(FileFault) in try self.folder.removeAll(asked: asked) }
        }.get()
    }

    /// Forgets a user or a tenant: all entries of this partition, on the disk, in memory, and on their way to either,
    /// in this process and in those that share the folder.
    ///
    /// For the moment when somebody signs out. A request that is on its way is not cancelled, and who has made it hears
    /// its answer, of which the cache keeps nothing: cancel the calls themselves.
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

    /// What is in memory as well, with the name of its file.
    private struct Kept: Sendable {
        let value: Value
        let digest: Digest
    }

    private func kept(_ entry: CacheEntry<Value>, _ name: Name, asked: Int64) -> CacheEntry<Kept> {
        CacheEntry(Kept(value: entry.value, digest: name.digest), stamp: entry.stamp, tags: entry.tags, asked: asked)
    }

    private struct Name: Sendable {
        let digest: Digest
        let text: [UInt8]
    }

    private func name(of key: Key) -> Name {
        let bytes = CanonicalText.bytes(of: text(key))
        return Name(digest: digest(bytes), text: bytes)
    }
}

extension DiskCache: ClearingStore, EncodingStore {}

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
            memoryLimit: memoryLimit, durability: durability, coding: coding, clock: clock, text: Self.text,
            onOutcome: onOutcome)
    }

    /// The text of a key. Zero and minus zero are equal, and written in two ways.
    private static var text: @Sendable (Key) -> String {
        guard Key.self is any FloatingPoint.Type else { return { $0.description } }
        return { ($0 as? any FloatingPoint)?.isZero == true ? "0.0" : $0.description }
    }
}
