internal import IDMCore
internal import IDMFiles

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
struct DiskUsage: Sendable, Equatable {
    var bytes = 0
    var entries = 0
}

/// How much is known of that.
enum DiskCount: Sendable {
    /// Nobody had to know, or nobody can.
    case unknown
    /// It is being counted, and these entries have changed meanwhile.
    case counting(changed: Set<Digest>)
    case known(DiskUsage)

    mutating func hear(_ change: DiskChange) {
        switch (change.kind, self) {
        case (.allRemoved, _), (.withdrawn, _): self = .unknown
        case (.tagRemoved, _), (.begun, _), (.follows, _), (_, .unknown): break
        case (_, .counting(let changed)): self = .counting(changed: changed.union([change.subject]))
        case (_, .known(let usage)):
            let (bytes, hasTooMany) = usage.bytes.addingReportingOverflow(change.bytes)
            let (entries, areTooMany) = usage.entries.addingReportingOverflow(change.entries)
            // What makes no sense is counted anew.
            self = hasTooMany || areTooMany ? .unknown : .known(DiskUsage(bytes: bytes, entries: entries))
        }
    }
}

extension DiskFolder {
    private typealias Listing = [(digest: Digest, status: FileStatus)]

    /// Whether the bounds may have been passed.
    var needsTrim: Bool {
        guard bounds.exist else { return false }
        return usage.withLock { usage in
            if case .known(let usage) = usage { !bounds.hold(usage) } else { true }
        }
    }

    /// Removes the least recently used entries if there are too many. Returns how many that were. To be called by one
    /// at a time.
    ///
    /// The folder is only looked through when the bounds are passed, and once before that to know what is there. No
    /// lock is held for that, and nobody waits.
    func trim() throws(FileFault) -> Int {
        guard needsTrim else { return 0 }
        tellUses(atLeast: 1)
        let partition = try open()
        let entries = try count(partition)
        guard needsTrim else { return 0 }
        // A use in the future is one from before the clock was set. It would outlast everything that is used from now
        // on.
        let now = latestUse
        func use(_ status: FileStatus) -> Int64 { status.use > now ? .min : status.use }
        // What is too long by itself goes first: in its turn, everything else would go before it.
        func isTooLong(_ status: FileStatus) -> Bool { status.length > bounds.bytes ?? .max }
        var removed = 0
        try evict(entries.filter { isTooLong($0.status) }, until: bounds, partition, &removed)
        if needsTrim {
            let others = entries.filter { !isTooLong($0.status) }.sorted { use($0.status) < use($1.status) }
            try evict(others, until: bounds.afterCleaning, partition, &removed)
        }
        return removed
    }

    /// Removes entries until enough are gone, some at a time.
    private func evict(
        _ entries: Listing, until target: DiskBounds, _ partition: OpenFolder?, _ removed: inout Int
    ) throws(FileFault) {
        var next = entries[...]
        while !next.isEmpty, try evict(next.prefix(Self.batch), until: target, partition, &removed) {
            next = next.dropFirst(Self.batch)
        }
    }

    /// How many entries are removed before others have a turn.
    private static var batch: Int { 64 }

    /// Removes entries until enough are gone. False once that is so.
    private func evict(
        _ entries: Listing.SubSequence, until target: DiskBounds, _ partition: OpenFolder?, _ removed: inout Int
    ) throws(FileFault) -> Bool {
        var count = 0
        defer { removed += count }
        return try hold(partition) { () throws(FileFault) in
            for (digest, old) in entries {
                guard let usage = known else { return false }
                // The last one is what was just written. It goes only if it is too long by itself.
                let target = usage.entries > 1 ? target : bounds
                if target.hold(usage) { return false }
                // Used or written since, it isn't the one that was meant.
                guard let status = try partition?.statusIfThere(of: digest.hex), status.identity == old.identity,
                    status.modified == old.modified
                else { continue }
                let change = DiskChange(
                    kind: .lost, subject: digest, time: MachineTime.now, bytes: -status.length, entries: -1)
                try remove(digest.hex, in: partition, telling: change)
                count += 1
            }
            return true
        }
    }

    /// How much there is, if that is known.
    var known: DiskUsage? {
        usage.withLock { if case .known(let usage) = $0 { usage } else { nil } }
    }

    /// Looks at all entries, and knows from then on how much there is.
    private func count(_ partition: OpenFolder?) throws(FileFault) -> Listing {
        try hold(partition) { () throws(FileFault) in usage.withLock { $0 = .counting(changed: []) } }
        var entries: [Digest: FileStatus] = [:]
        do throws(FileFault) {
            for name in try partition?.names() ?? [] {
                // Gone meanwhile, or no entry.
                guard let digest = Digest(hex: name), let status = try? partition?.status(of: name),
                    status.kind == .file
                else { continue }
                entries[digest] = status
            }
            try hold(partition) { () throws(FileFault) in
                guard case .counting(let changed) = usage.withLock({ $0 }) else { return }
                for digest in changed {
                    let status = try partition?.statusIfThere(of: digest.hex)
                    entries[digest] = status?.kind == .file ? status : nil
                }
                let bytes = entries.values.reduce(0) { $0.addingSaturating($1.length) }
                usage.withLock { $0 = .known(DiskUsage(bytes: bytes, entries: entries.count)) }
            }
        } catch {
            forgetUsage()
            throw error
        }
        return entries.map { ($0.key, $0.value) }
    }
}
