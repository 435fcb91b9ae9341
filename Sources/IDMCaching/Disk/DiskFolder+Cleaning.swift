internal import Synchronization

/// How much a disk cache may hold.
struct DiskBounds: Sendable {
    var bytes: Int?
    var entries: Int?

    var exist: Bool { bytes != nil || entries != nil }

    func hold(_ usage: DiskUsage) -> Bool {
        usage.bytes <= bytes ?? .max && usage.entries <= entries ?? .max
    }

    /// What is left after a cleaning: a tenth less than there may be, so that not every write has to clean.
    var afterCleaning: DiskBounds {
        DiskBounds(bytes: bytes.map { $0 - $0 / 10 }, entries: entries.map { $0 - $0 / 10 })
    }
}

/// How much a disk cache holds.
struct DiskUsage: Sendable {
    var bytes = 0
    var entries = 0

    mutating func replace(_ old: Int?, by size: Int) {
        bytes += size - (old ?? 0)
        entries += old == nil ? 1 : 0
    }

    mutating func remove(_ size: Int) {
        bytes -= size
        entries -= 1
    }
}

extension DiskFolder {
    /// How many damaged files are kept for somebody to look at.
    static let damagedLimit = 32

    /// Removes the least recently used entries if there are too many. Returns how many that were.
    ///
    /// The folder is only looked through when the bounds are passed, and once before that to know what is there.
    func trim() throws(FileFault) -> Int {
        guard bounds.exist else { return 0 }
        // One at a time, and whoever comes meanwhile finds it done.
        return try usage.withLock { usage throws(FileFault) in
            if let usage, bounds.hold(usage) { return 0 }
            let (kept, count) = try clean()
            usage = kept
            return count
        }
    }

    private func clean() throws(FileFault) -> (DiskUsage, removed: Int) {
        var entries = try entries()
        var usage = DiskUsage(bytes: entries.reduce(0) { $0 + $1.status.size }, entries: entries.count)
        guard !bounds.hold(usage) else { return (usage, 0) }
        // A use in the future is one from before the clock was set. It would outlast everything that is used from now on.
        let now = latestUse
        func use(_ status: FileStatus) -> Int64 { status.time > now ? .min : status.time }
        entries.sort { use($0.status) > use($1.status) }
        var removed = 0
        // The one that is left is what was just written.
        while entries.count > 1, !bounds.afterCleaning.hold(usage), let last = entries.popLast() {
            try removeIfThere(path + "/" + last.name)
            usage.bytes -= last.status.size
            usage.entries -= 1
            removed += 1
        }
        if !bounds.hold(usage), let last = entries.popLast() {
            try removeIfThere(path + "/" + last.name)
            return (DiskUsage(), removed + 1)
        }
        return (usage, removed)
    }

    /// The names of all entries, and what the system knows of them.
    private func entries() throws(FileFault) -> [(name: String, status: FileStatus)] {
        var entries: [(String, FileStatus)] = []
        for name in try names(in: path) where Self.isEntry(name) {
            // Gone meanwhile, or no entry.
            guard let status = try? files.status(at: path + "/" + name), status.kind == .file else { continue }
            entries.append((name, status))
        }
        return entries
    }

    private func names(in path: String) throws(FileFault) -> [String] {
        do {
            return try files.names(in: path)
        } catch {
            if error.isAbsence { return [] }
            throw error
        }
    }

    private static func isEntry(_ name: String) -> Bool {
        name.utf8.count == 64 && name.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }

    /// Keeps what was moved aside from growing without end.
    func limitDamaged() {
        guard let names = try? names(in: damaged) else { return }
        for name in names.dropFirst(Self.damagedLimit) { try? removeIfThere(damaged + "/" + name) }
    }

    /// Removes the entries that bear a tag, by reading each.
    ///
    /// What can't be read could bear it. It is told, and doesn't keep the rest from going.
    func removeAll(tagged tag: String) throws(FileFault) {
        var first: FileFault?
        for name in try names(in: path) where Self.isEntry(name) {
            do throws(FileFault) {
                if try tags(of: path + "/" + name).contains(tag) { try removeIfThere(path + "/" + name) }
            } catch {
                first = first ?? error
            }
        }
        usage.withLock { $0 = nil }
        if let first { throw first }
        try synchronizeIfThere(path)
    }

    /// The tags of an entry. Empty if the file isn't one: it is found out when somebody reads it.
    private func tags(of path: String) throws(FileFault) -> [String] {
        let file: Int32
        do throws(FileFault) {
            file = try files.open(path, .reading)
        } catch {
            if error.isAbsence || error.isLink || error.isSocket { return [] }
            throw error
        }
        defer { try? files.close(file) }
        let status = try files.status(file)
        guard status.kind == .file, status.size <= DiskRecord.greatestLength else { return [] }
        let bytes = try read(file, length: status.size)
        return bytes.withUnsafeBytes { (try? DiskRecord.read($0))?.record.tags } ?? []
    }

    /// Removes everything that this partition holds: entries, what was moved aside, and what dead processes left.
    ///
    /// What can't be removed doesn't keep the rest from going. A folder that somebody has put there is left to them.
    func removeAll() throws(FileFault) {
        var first: FileFault?
        func remove(_ folder: String, _ isMeant: (String) -> Bool) {
            do throws(FileFault) {
                for name in try names(in: folder) where isMeant(name) {
                    do throws(FileFault) {
                        try removeIfThere(folder + "/" + name)
                    } catch {
                        let isFolder = (try? files.status(at: folder + "/" + name))?.kind == .folder
                        if !isFolder { first = first ?? error }
                    }
                }
            } catch {
                first = first ?? error
            }
        }
        remove(path, Self.isEntry)
        remove(damaged) { _ in true }
        remove(writing) { !$0.hasPrefix(ownName) }
        usage.withLock { $0 = nil }
        if let first { throw first }
        for folder in [path, damaged, writing] { try synchronizeIfThere(folder) }
    }

    /// Sees to it that what was removed from a folder isn't there again when the power comes back.
    func synchronizeIfThere(_ folder: String) throws(FileFault) {
        guard isPowerSafe else { return }
        do {
            try synchronize(folder: folder)
        } catch {
            if !error.isAbsence { throw error }
        }
    }
}
