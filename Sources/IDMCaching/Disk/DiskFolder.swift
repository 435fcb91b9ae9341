internal import IDMCore
internal import Synchronization

/// The files of one partition: what a disk cache does on its own threads, one call after the other.
///
///     <folder>/<partition>/<digest of a key>      an entry
///     <folder>/<partition>/writing/<process>-…    an entry on its way
///     <folder>/<partition>/damaged/<time>-…       what could not be used
///     <folder>/<partition>/changes                what the processes that share all this tell one another
///
/// An entry is written beside its place and then renamed into it, so that whoever reads it, in this process or another,
/// finds the whole old one or the whole new one. Calls for the same key come one after the other; calls for different
/// keys come at the same time.
final class DiskFolder: Sendable {
    let files: any FileLayer
    let path: String
    let bounds: DiskBounds
    let isPowerSafe: Bool
    /// How the names of the files begin that are being written through this.
    let ownName: String
    let journal: DiskJournal
    /// What is known of the files.
    let usage = Locked(DiskCount.unknown)
    /// When entries were used in memory of which the files know nothing yet.
    let uses = Locked<[Digest: Int64]>([:])
    /// What the others have done, and the removals of everything that were made here.
    let others = Locked(OthersChanges())
    private let othersHook: @Sendable (DiskNews) -> (any Sendable)?
    private let lastEdition = Atomic(0)
    private let parents: [String]
    private let isReady = Atomic(false)
    private let lastTemporary = Atomic<UInt64>(0)
    private let lastUse = Atomic<Int64>(0)

    var writing: String { path + "/writing" }
    var damaged: String { path + "/damaged" }

    /// - Parameters:
    ///   - parents: The folders that have to be there before the partition's own, outermost first.
    ///   - path: The partition's own folder.
    ///   - othersHook: Hears what other processes have changed, before anybody can find that there is nothing new. What
    ///     it returns is let go of where no lock is held.
    init(
        parents: [String], path: String, bounds: DiskBounds, isPowerSafe: Bool, files: any FileLayer, process: Int32,
        othersHook: @escaping @Sendable (DiskNews) -> (any Sendable)? = { _ in nil }
    ) {
        self.parents = parents
        self.path = path
        self.bounds = bounds
        self.isPowerSafe = isPowerSafe
        self.files = files
        self.othersHook = othersHook
        ownName = "\(process)-\(UInt64.random(in: .min ... .max))-"
        journal = DiskJournal(
            path: path + "/changes", successor: path + "/writing/" + ownName + "changes", files: files)
    }

    func place(of digest: Digest) -> String { path + "/" + digest.hex }

    // MARK: Taking turns

    /// Changes with every removal here, and with every change elsewhere that was heard of. What was read before isn't
    /// kept in memory afterwards.
    var edition: Int { lastEdition.load(ordering: .acquiring) }

    /// Does something while no other process changes anything.
    func hold<R>(makes: Bool = true, _ body: () throws(FileFault) -> R) throws(FileFault) -> R {
        // What memory lets go of may be anything: it goes when the lock is open again.
        var leftovers: [any Sendable] = []
        defer { withExtendedLifetime(leftovers) {} }
        var last: DiskChange?
        return try journal.hold(
            makes: makes, clear: { setAside($0) },
            hear: { changes in
                renew()
                last = changes?.last
                if let leftover = hear(changes) { leftovers.append(leftover) }
            },
            { () throws(FileFault) in
                if let last { check(last) }
                return try body()
            })
    }

    /// A process that was killed between telling of a change and making it may have told that there is less than there
    /// is. It held the lock until then: whoever has it next finds that as the last thing that was told.
    private func check(_ last: DiskChange) {
        func status() -> FileStatus? { try? statusIfThere(place(of: last.subject)) }
        let isMade =
            switch last.kind {
            case .written: status()?.size == Int(clamping: last.length)
            case .removed, .lost: last.entries == 0 || status() == nil
            case .tagRemoved, .allRemoved, .withdrawn, .begun, .follows, .started, .ended: true
            }
        if !isMade { withdraw() }
    }

    /// What was read before now isn't kept in memory any more.
    func renew() {
        lastEdition.add(1, ordering: .acquiringAndReleasing)
    }

    private func hear(_ changes: [DiskChange]?) -> (any Sendable)? {
        guard let changes else {
            forgetUsage()
            return othersHook(.anything)
        }
        let now = MachineTime.now
        others.withLock { others in
            // Where the system doesn't tell its starts apart, what comes from the future was said before this one.
            for change in changes where change.time <= now { others.hear(change) }
        }
        usage.withLock { usage in
            for change in changes { usage.hear(change) }
        }
        return othersHook(DiskNews(changes))
    }

    // MARK: Writing

    /// What has become of a write.
    enum Landing {
        /// It is there, and may be kept in memory for as long as the edition is this one.
        case landed(edition: Int)
        /// It is too late.
        case refused
        /// It is too late, and what was in its place has gone as well.
        case cleared
        /// Somebody else wipes the folder again and again, and this write with it.
        case wiped
    }

    /// Writes an entry, if it is not too late for it, by what others have done and by the answer to a question that is
    /// asked at the last moment. If that is no, what is in its place may have to go; this is asked then.
    func write(
        _ file: [UInt8], _ order: WriteOrder, if mayLand: () -> Bool, orClearIf mustClear: () -> Bool
    ) throws(FileFault) -> Landing {
        // A wipe takes what is being written with it, also what was asked for after it. That is written once more.
        if let landing = try tryToWrite(file, order, mayLand, mustClear) { return landing }
        return try tryToWrite(file, order, mayLand, mustClear) ?? .wiped
    }

    private func tryToWrite(
        _ file: [UInt8], _ order: WriteOrder, _ mayLand: () -> Bool, _ mustClear: () -> Bool
    ) throws(FileFault) -> Landing? {
        try makeReady()
        let temporary = writing + "/" + ownName + "\(lastTemporary.add(1, ordering: .relaxed).newValue)"
        do throws(FileFault) {
            try fill(temporary, file)
            let landing = try hold { () throws(FileFault) in
                let verdict = others.withLock { $0.verdict(on: order) }
                let isOvertaken = verdict == .overtaken
                let isInTime = !isOvertaken && mayLand()
                if isInTime, verdict == .free { return try land(temporary, order, length: file.count) }
                // What others have invalidated only the verdict knows. What they have told they need not have made:
                // killed before that, or refused by the system, they have left what is older.
                guard isOvertaken || isInTime || mustClear() else { return Landing?.some(.refused) }
                // First, so that there is space to tell of it.
                try removeIfThere(temporary)
                return try clearEntry(order.digest, asked: order.asked) ? .cleared : .refused
            }
            switch landing {
            case .landed: if isPowerSafe { try synchronize(folder: path) }
            case .refused: try removeIfThere(temporary)
            case .cleared: try synchronizeIfThere(path)
            case .wiped, nil: break
            }
            return landing
        } catch {
            try? files.remove(temporary)
            if error.isAbsence { isReady.store(false, ordering: .relaxed) }
            throw error
        }
    }

    /// Puts what was written into its place. Nil if it isn't there any more.
    private func land(_ temporary: String, _ order: WriteOrder, length: Int) throws(FileFault) -> Landing? {
        let place = place(of: order.digest)
        let old = try? files.status(at: place)
        if let old, old.kind == .folder { setAside(place) }
        let oldSize = old.flatMap { $0.kind == .file ? $0.size : nil }
        var change = DiskChange(kind: .written, subject: order.digest, time: order.asked)
        change.bytes = length - (oldSize ?? 0)
        change.entries = oldSize == nil ? 1 : 0
        change.length = UInt32(clamping: length)
        try journal.append(change)
        do throws(FileFault) {
            try files.rename(temporary, place)
        } catch {
            withdraw()
            guard error.isAbsence, (try? files.status(at: writing))?.kind == .folder else { throw error }
            return nil
        }
        usage.withLock { $0.hear(change) }
        return .landed(edition: edition)
    }

    private func fill(_ path: String, _ bytes: [UInt8]) throws(FileFault) {
        let file = try files.open(path, .creating)
        do throws(FileFault) {
            var written = 0
            try files.writeAll(file, bytes, counting: &written)
            if bounds.exist { try files.touch(file, nextUse()) }
            if isPowerSafe { try files.synchronize(file) }
        } catch {
            try? files.close(file)
            throw error
        }
        // Some file systems say only here that what was written has no place.
        try files.close(file)
    }

    func synchronize(folder path: String) throws(FileFault) {
        let folder = try files.open(path, .folder)
        defer { try? files.close(folder) }
        try files.synchronize(folder)
    }

    // MARK: Folders

    /// Makes the folders before the first write, and sweeps up after processes that were killed while they wrote.
    private func makeReady() throws(FileFault) {
        guard !isReady.load(ordering: .relaxed) else { return }
        do {
            try makeFolder(path)
        } catch {
            guard error.isAbsence else { throw error }
            // One that is there already may be a link, or one that this user may only pass.
            for (above, parent) in zip(["/"] + parents, parents) where (try? files.status(at: parent)) == nil {
                try makeFolder(parent)
                if isPowerSafe { try synchronize(folder: above) }
            }
            try makeFolder(path)
        }
        try makeFolder(writing)
        if isPowerSafe, let last = parents.last { try synchronize(folder: last) }
        for name in try files.names(in: writing) where isAbandoned(name) { try removeIfThere(writing + "/" + name) }
        isReady.store(true, ordering: .relaxed)
    }

    /// Whether nobody goes on writing a file: its process is gone, or has had an hour.
    private func isAbandoned(_ name: String) -> Bool {
        guard !name.hasPrefix(ownName), let owner = name.split(separator: "-").first.flatMap({ Int32($0) }),
            let status = try? files.status(at: writing + "/" + name)
        else { return false }
        let age = CacheClock.system.stamp().time - .nanoseconds(status.time)
        return !files.isRunning(owner) || age > .seconds(3600)
    }

    func makeFolder(_ path: String) throws(FileFault) {
        do {
            try files.makeFolder(path)
        } catch {
            guard error.isPresence, try files.status(at: path).kind == .folder else { throw error }
        }
    }

    // MARK: Uses

    /// The latest time at which anything can have been used, in nanoseconds.
    var latestUse: Int64 { max(lastUse.load(ordering: .relaxed), CacheClock.system.stamp().time.nanoseconds) }

    /// The time of a use in nanoseconds, later than every one before.
    func nextUse() -> Int64 {
        let now = CacheClock.system.stamp().time.nanoseconds
        while true {
            let last = lastUse.load(ordering: .relaxed)
            let next = max(last + 1, now)
            if lastUse.compareExchange(expected: last, desired: next, ordering: .relaxed).exchanged { return next }
        }
    }
}

/// Which entry is to be written, and when that was asked for.
struct WriteOrder: Sendable {
    let digest: Digest
    let tags: [String]
    /// See ``MachineTime``.
    let asked: Int64
}

extension Duration {
    /// In whole nanoseconds, as far as they fit.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, isTooMuch) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isStillTooMuch) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return isTooMuch || isStillTooMuch ? (seconds < 0 ? .min : .max) : sum
    }
}
