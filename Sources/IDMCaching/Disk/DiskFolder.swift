internal import IDMCore
internal import IDMFiles
internal import Synchronization

/// The files of one partition: what a disk cache does on its own threads, one call after the other.
///
///     <folder>/<partition>/<digest of a key>      an entry
///     <folder>/<partition>/writing/<process>-…    an entry on its way
///     <folder>/<partition>/damaged/<time>-…       what could not be used
///     <folder>/<partition>/changes                what the processes that share all this tell one another
///
/// An entry is written beside its place and then renamed into it, so that whoever reads it, in this process or another,
/// finds the whole old one or the whole new one. Work is done in folders that are open, and no link in the place of one
/// is followed: in the partition's it is refused, in that of a folder inside it is put aside.
///
/// Writes and removals of the same key come one after the other; everything else comes at the same time. A read doesn't
/// wait for a process that has locked the partition.
final class DiskFolder: Sendable {
    let files: any FileLayer
    let path: String
    let bounds: DiskBounds
    let isPowerSafe: Bool
    private let owner: FileOwner
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

    static let writing = "writing"
    static let damaged = "damaged"

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
        owner = FileOwner(process)
        ownName = "\(owner)-\(UInt64.random(in: .min ... .max))-"
        journal = DiskJournal(folder: path, successor: ownName + DiskJournal.name, files: files)
    }

    /// Opens the partition's folder. Nil if there is none.
    func open() throws(FileFault) -> OpenFolder? { try OpenFolder.open(.path(path), files) }

    // MARK: Taking turns

    /// Changes with every removal here, and with every change elsewhere that was heard of. What was read before isn't
    /// kept in memory afterwards.
    var edition: Int { lastEdition.load(ordering: .acquiring) }

    /// Does something in the partition's folder while no other process changes anything. Waits for one that does.
    func hold<R>(
        _ partition: OpenFolder?, makes: Bool = true, _ body: () throws(FileFault) -> R
    ) throws(FileFault) -> R {
        try listening(to: partition) { surroundings, checked throws(FileFault) in
            try journal.hold(in: surroundings, makes: makes) { () throws(FileFault) in
                checked()
                return try body()
            }
        }
    }

    /// The same without waiting. Nil if another process changes something.
    func tryHold<R>(
        _ partition: OpenFolder?, makes: Bool = true, _ body: () throws(FileFault) -> R
    ) throws(FileFault) -> R? {
        try listening(to: partition) { surroundings, checked throws(FileFault) in
            try journal.tryHold(in: surroundings, makes: makes) { () throws(FileFault) in
                checked()
                return try body()
            }
        }
    }

    /// - Parameter work: Is given what the journal needs, and what has to be done first under its lock.
    private func listening<R>(
        to partition: OpenFolder?, _ work: (DiskJournal.Surroundings, () -> Void) throws(FileFault) -> R
    ) throws(FileFault) -> R {
        // What memory lets go of may be anything: it goes when the lock is open again.
        var leftovers: [any Sendable] = []
        defer { withExtendedLifetime(leftovers) {} }
        var last: DiskChange?
        var surroundings = surroundings(partition)
        surroundings.hear = { changes in
            self.renew()
            last = changes?.last
            if let leftover = self.hear(changes) { leftovers.append(leftover) }
        }
        return try work(surroundings) { if let last { check(last, partition) } }
    }

    func surroundings(_ partition: OpenFolder?) -> DiskJournal.Surroundings {
        DiskJournal.Surroundings(
            partition: partition,
            writing: { () throws(FileFault) in
                guard let partition else { throw FileFault.absence }
                return try self.makeFolder(Self.writing, in: partition)
            },
            clear: { if let partition { self.setAside(DiskJournal.name, in: partition) } }, hear: { _ in })
    }

    /// A process that was killed between telling of a change and making it may have told that there is less than there
    /// is. It held the lock until then: whoever has it next finds that as the last thing that was told.
    private func check(_ last: DiskChange, _ partition: OpenFolder?) {
        switch last.kind {
        case .written:
            do throws(FileFault) {
                if try asked(last.subject, in: partition) != last.time { withdraw(last) }
            } catch {
                withdraw()
            }
        case .removed, .lost:
            if last.entries != 0, (try? partition?.statusIfThere(of: last.subject.hex)) != nil { withdraw() }
        case .tagRemoved, .allRemoved, .withdrawn, .begun, .follows, .started, .ended: break
        }
    }

    /// When what stands in the place of an entry was asked for. Nil if no entry is there.
    private func asked(_ digest: Digest, in partition: OpenFolder?) throws(FileFault) -> Int64? {
        guard let partition, let file = try openEntry(digest.hex, in: partition) else { return nil }
        defer { try? files.close(file) }
        guard try files.status(file).kind == .file else { return nil }
        return DiskRecord.asked(of: digest, inHeader: try files.readAll(file, length: DiskRecord.headerLength))
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
        /// It isn't known whether it is too late. What was in its place has gone.
        case unordered
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
        let (partition, writing) = try openFolders()
        let temporary = ownName + "\(lastTemporary.add(1, ordering: .relaxed).newValue)"
        do throws(FileFault) {
            try fill(temporary, in: writing, file)
            let landing = try hold(partition) { () throws(FileFault) in
                let verdict = others.withLock { $0.verdict(on: order) }
                let isOvertaken = verdict == .overtaken
                let isInTime = !isOvertaken && mayLand()
                if isInTime, verdict == .free {
                    return try land(temporary, from: writing, in: partition, order, length: file.count)
                }
                // What others have invalidated only the verdict knows. What they have told they need not have made:
                // killed before that, or refused by the system, they have left what is older.
                guard isOvertaken || isInTime || mustClear() else { return Landing?.some(.refused) }
                // First, so that there is space to tell of it.
                try writing.removeIfThere(temporary)
                guard try clearEntry(order.digest, in: partition, asked: order.asked) else { return .refused }
                return verdict == .unknown && isInTime ? .unordered : .cleared
            }
            switch landing {
            case .landed: if isPowerSafe { try partition.synchronize() }
            case .refused:
                try writing.removeIfThere(temporary)
                try synchronizeEntry(order.digest, in: partition)
            case .cleared, .unordered: if isPowerSafe { try partition.synchronize() }
            case .wiped, nil: break
            }
            return landing
        } catch {
            try? writing.remove(temporary)
            if error.isAbsence { isReady.store(false, ordering: .relaxed) }
            throw error
        }
    }

    /// Puts what was written into its place. Nil if it isn't there any more.
    private func land(
        _ temporary: String, from writing: OpenFolder, in partition: OpenFolder, _ order: WriteOrder, length: Int
    ) throws(FileFault) -> Landing? {
        let name = order.digest.hex
        let old = try? partition.status(of: name)
        if let old, old.kind == .folder { setAside(name, in: partition) }
        let oldSize = old.flatMap { $0.kind == .file ? $0.length : nil }
        var change = DiskChange(kind: .written, subject: order.digest, time: order.asked)
        change.bytes = length - (oldSize ?? 0)
        change.entries = oldSize == nil ? 1 : 0
        change.length = UInt32(clamping: length)
        try journal.append(change)
        do throws(FileFault) {
            try writing.rename(temporary, to: partition, as: name)
        } catch {
            withdraw(change)
            guard error.isAbsence, (try? partition.status(of: Self.writing))?.kind == .folder else { throw error }
            return nil
        }
        usage.withLock { $0.hear(change) }
        return .landed(edition: edition)
    }

    private func fill(_ name: String, in writing: OpenFolder, _ bytes: [UInt8]) throws(FileFault) {
        let file = try writing.open(name, .creating)
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

    /// Sees to it that an entry for which a write was refused is there when the power comes back: that write is done.
    private func synchronizeEntry(_ digest: Digest, in partition: OpenFolder) throws(FileFault) {
        guard isPowerSafe, let file = try openEntry(digest.hex, in: partition) else { return }
        defer { try? files.close(file) }
        try files.synchronize(file)
        try partition.synchronize()
    }

    // MARK: Folders

    /// Opens the partition's folder and the one for entries on their way. Before the first write they are made, and
    /// what processes left that were killed while they wrote is removed.
    private func openFolders() throws(FileFault) -> (partition: OpenFolder, writing: OpenFolder) {
        do throws(FileFault) {
            let wasReady = isReady.load(ordering: .relaxed)
            if !wasReady { try makePartition() }
            guard let partition = try open() else { throw FileFault.absence }
            let writing = try makeFolder(Self.writing, in: partition)
            guard !wasReady else { return (partition, writing) }
            if isPowerSafe, let last = parents.last { try synchronize(named: last) }
            for name in try writing.names() where isAbandoned(name, in: writing) { try writing.removeIfThere(name) }
            isReady.store(true, ordering: .relaxed)
            return (partition, writing)
        } catch {
            if error.isAbsence { isReady.store(false, ordering: .relaxed) }
            throw error
        }
    }

    private func makePartition() throws(FileFault) {
        do throws(FileFault) {
            try makeNamedFolder(path)
        } catch {
            guard error.isAbsence else { throw error }
            // One that is there already may be a link, or one that this user may only pass.
            for (above, parent) in zip(["/"] + parents, parents) where (try? files.status(at: .path(parent))) == nil {
                try makeNamedFolder(parent)
                if isPowerSafe { try synchronize(named: above) }
            }
            try makeNamedFolder(path)
        }
    }

    /// Makes a folder, unless something is there.
    private func makeNamedFolder(_ path: String) throws(FileFault) {
        do throws(FileFault) {
            try files.makeFolder(.path(path))
        } catch {
            if !error.isPresence { throw error }
        }
    }

    private func synchronize(named path: String) throws(FileFault) {
        let folder = try files.open(.path(path), .namedFolder)
        defer { try? files.close(folder) }
        try files.synchronize(folder)
    }

    /// Opens a folder in the partition's, and makes it if it isn't there. A link, or a file, in its place is put aside.
    func makeFolder(_ name: String, in partition: OpenFolder) throws(FileFault) -> OpenFolder {
        do throws(FileFault) {
            if let folder = try partition.folder(name) { return folder }
        } catch {
            guard error == .noFolder else { throw error }
            if name == Self.damaged { try partition.removeIfThere(name) } else { setAside(name, in: partition) }
        }
        try partition.makeFolder(name)
        guard let folder = try partition.folder(name) else { throw FileFault.absence }
        return folder
    }

    /// True if no process writes the file any more: its process has ended, or the file is an hour old.
    private func isAbandoned(_ name: String, in writing: OpenFolder) -> Bool {
        guard !name.hasPrefix(ownName), let owner = name.split(separator: "-").first.flatMap({ FileOwner($0) }),
            let status = try? writing.status(of: name)
        else { return false }
        let age = CacheClock.system.stamp().time - status.modified
        return owner.hasEnded(seenBy: self.owner) || age > .seconds(3600)
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

extension FileStatus {
    /// The time of the last use, in nanoseconds.
    var use: Int64 { modified.nanoseconds }
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
