internal import IDMCore
internal import IDMFiles

/// The file by which processes that share a partition take turns, and tell one another what they have changed.
///
/// Its length only grows, so that one look at that says whether there is anything to hear. A change is told before it
/// is made, under the lock: who is killed in between has told too much, and never too little. When the file gets long,
/// or its partition is wiped, another takes its place, which says what it follows; who still has the old one reads it
/// to its end, and sees that it isn't there any more.
///
/// A journal with a second name is another owner's as well, as after a copy made of links. It is read, and never written
/// to: a new journal takes its place first.
///
/// Times mean nothing once the machine was started again. So the first change since then comes after one that says so.
///
/// Locks are let go of by the system when a process ends. They are held for as long as a few calls take, on threads
/// that may wait. A process that is stopped keeps its lock: nothing is held in this process while a thread waits for
/// that, so that reads, which don't wait, go on.
final class DiskJournal: Sendable {
    /// Longer, it is begun anew.
    static let greatestLength = 1 << 20
    /// Longer, it is nothing that was told: what a process writes to it, it also begins anew in time.
    static let readableLength = 8 * greatestLength
    private static let mostTurns = 64

    private struct Opened {
        var file: Int32
        var identity: FileIdentity
        /// How much of it is known here.
        var position = 0
        var name: Digest?
        /// Since which start of the machine it was said what was read last.
        var start: Digest?
        /// Whether another has its place by what was done here.
        var isRetired = false
        /// Whether it has a second name, and isn't to be written to.
        var isShared = false

        /// Puts what was said before the machine was started before everything.
        mutating func date(_ changes: inout [DiskChange]) {
            for index in changes.indices {
                if changes[index].kind == .started { start = changes[index].subject }
                if MachineStart.isEarlier(start) { changes[index].time = .min }
            }
        }
    }

    static let name = "changes"

    /// What a journal needs of the partition that it belongs to.
    struct Surroundings {
        /// The partition's folder. Nil if there is none.
        var partition: OpenFolder?
        /// The folder where a new journal is written.
        var writing: () throws(FileFault) -> OpenFolder
        /// Puts out of the way what stands in the journal's place and is none.
        var clear: () -> Void
        /// Receives the changes of other processes. Nil if anything may have changed.
        var hear: ([DiskChange]?) -> Void
    }

    private let path: String
    private let successor: String
    private let files: any FileLayer
    /// One thread at a time: a lock of the system doesn't tell threads apart.
    private let turn = Locked(())
    /// Held for a moment only, and never while another process is waited for.
    private let opened = Locked<Opened?>(nil)
    /// What waits for another process.
    let holdUps = HoldUps()
    /// The last journal that was read to its end.
    private let lastRead = Locked<Digest?>(nil)

    /// - Parameters:
    ///   - folder: The path of the partition's folder.
    ///   - successor: The name of a new journal, before it takes the place of the old one.
    init(folder: String, successor: String, files: any FileLayer) {
        path = folder + "/" + Self.name
        self.successor = successor
        self.files = files
    }

    deinit {
        if let file = opened.withLock({ $0?.file }) { try? files.close(file) }
    }

    /// Whether others have changed nothing that is not known here. Doesn't wait.
    ///
    /// The journal is looked up by its path: one that another has replaced may be there still, by another name.
    var isCurrent: Bool {
        opened.withLock { opened in
            // One that was opened just now wasn't read yet.
            guard let opened, opened.name != nil, !opened.isRetired, let status = try? files.status(at: .path(path))
            else { return false }
            return status.identity == opened.identity && status.length == opened.position && status.links > 0
        }
    }

    /// Performs work while no other process changes anything, once the changes of others were read. Waits for a process
    /// that holds the journal.
    ///
    /// - Parameter makes: Whether the journal is made if it isn't there. Where there is none, and no folder for one,
    ///   there is nobody to take turns with.
    func hold<R>(
        in surroundings: Surroundings, makes: Bool, _ body: () throws(FileFault) -> R
    ) throws(FileFault) -> R {
        while true {
            if let result = try tryHold(in: surroundings, makes: makes, body) { return result }
            try waitForOthers()
        }
    }

    /// The same without waiting. Nil if another process holds the journal.
    func tryHold<R>(
        in surroundings: Surroundings, makes: Bool, _ body: () throws(FileFault) -> R
    ) throws(FileFault) -> R? {
        try turn.withLock { _ throws(FileFault) -> R? in
            let file: Int32
            switch try lock(surroundings, makes: makes) {
            case .noJournal: return try body()
            case .others: return nil
            case .locked(let locked): file = locked
            }
            defer { try? files.unlock(file) }
            let result = try body()
            // Where that can't be done the old one stays.
            if opened.withLock({ $0.map { $0.position > Self.greatestLength && !$0.isRetired } ?? false }) {
                try? retire(in: surroundings)
            }
            return result
        }
    }

    /// Waits until no other process has the lock. It may have it again when it is asked for next.
    private func waitForOthers() throws(FileFault) {
        // Its own descriptor: another thread that finds a new journal closes the one of the old.
        var fault: FileFault?
        let file = opened.withLock { opened -> Int32? in
            do throws(FileFault) {
                return try (opened?.file).map { file throws(FileFault) in try files.duplicate(file) }
            } catch {
                fault = error
                return nil
            }
        }
        if let fault { throw fault }
        guard let file else { return }
        defer { try? files.close(file) }
        holdUps.begin()
        defer { holdUps.end() }
        // The lock belongs to both descriptors: the thread that has the turn takes it again, and releases it.
        try files.waitForLock(file)
    }

    /// Tells the others of a change. To be called while the journal is held.
    func append(_ change: DiskChange) throws(FileFault) {
        guard let known = opened.withLock({ $0 }) else { return }
        guard !known.isShared else { throw FileFault.notAFile() }
        // A process that was killed while it told something, or had no space for it, has left a part.
        let missing = (DiskChange.size - known.position % DiskChange.size) % DiskChange.size
        let start = MachineStart.digest
        let beginning = known.start == start ? [] : Self.started(start).encoded
        var written = 0
        defer { opened.withLock { $0?.position += written } }
        let bytes = Array(repeating: 0, count: missing) + beginning + change.encoded
        try files.writeAll(known.file, bytes, counting: &written)
        opened.withLock { $0?.start = start }
    }

    private static func started(_ start: Digest) -> DiskChange {
        DiskChange(kind: .started, subject: start, time: MachineTime.now)
    }

    /// Begins anew, for all. To be called while the journal is held.
    ///
    /// - Parameter last: What is told once more, for those who have not read the old one to its end.
    func retire(in surroundings: Surroundings, telling last: DiskChange? = nil) throws(FileFault) {
        guard let known = opened.withLock({ $0 }), let name = known.name else { return }
        try replace(in: surroundings) { file throws(FileFault) in
            try writeBeginning(file, after: name, at: MachineTime.now, last)
            // A cache that has read all of the old journal looks once more.
            try? append(DiskChange(kind: .ended, time: MachineTime.now))
        }
        opened.withLock { $0?.isRetired = true }
    }

    /// Begins anew where the old journal has a second name. That one isn't changed.
    private func replaceShared(in surroundings: Surroundings) throws(FileFault) {
        let name = opened.withLock { $0?.name } ?? .zero
        try replace(in: surroundings) { file throws(FileFault) in
            try writeBeginning(file, after: name, at: MachineTime.now)
        }
    }

    /// Puts a new journal in the place of the old one.
    private func replace(
        in surroundings: Surroundings, _ fill: (Int32) throws(FileFault) -> Void
    ) throws(FileFault) {
        guard let partition = surroundings.partition else { return }
        let writing = try surroundings.writing()
        do throws(FileFault) {
            let file = try writing.open(successor, .creating)
            defer { try? files.close(file) }
            try fill(file)
            try writing.rename(successor, to: partition, as: Self.name)
        } catch {
            try? writing.remove(successor)
            throw error
        }
    }

    private func writeBeginning(
        _ file: Int32, after name: Digest, at time: Int64, _ last: DiskChange? = nil
    ) throws(FileFault) {
        let begun = DiskChange(kind: .begun, subject: .random, time: time)
        let follows = DiskChange(kind: .follows, subject: name, time: time)
        var written = 0
        let changes = [begun, Self.started(MachineStart.digest), follows] + (last.map { [$0] } ?? [])
        try files.writeAll(file, changes.flatMap(\.encoded), counting: &written)
    }

    /// Whether an open file is the one that everybody finds. It may be there by another name alone.
    private func isInPlace(_ status: FileStatus, _ partition: OpenFolder?) throws(FileFault) -> Bool {
        try partition?.statusIfThere(of: Self.name)?.identity == status.identity
    }

    private enum Lock {
        case locked(Int32)
        /// Another process has it.
        case others
        case noJournal
    }

    /// Takes the lock, and reads the changes of others.
    private func lock(_ surroundings: Surroundings, makes: Bool) throws(FileFault) -> Lock {
        // Replaced once. Where a file system counts too many names it would never end.
        var wasReplaced = false
        // Each time round another has begun a new one meanwhile. Where a file isn't known again that would never end.
        for _ in 0..<Self.mostTurns {
            guard let file = try open(surroundings, makes: makes) else { return .noJournal }
            guard try files.tryLock(file) else { return .others }
            do throws(FileFault) {
                let status = try files.status(file)
                let isInPlace = try isInPlace(status, surroundings.partition)
                let isShared = status.links > 1 && !wasReplaced
                opened.withLock { $0?.isShared = isShared }
                // Nothing was before the first one.
                let isNew = status.length == 0 && isInPlace && !isShared
                if isNew { try writeBeginning(file, after: .zero, at: .min) }
                try catchUp(file, to: isNew ? try files.status(file).length : status.length, surroundings.hear)
                if isInPlace {
                    guard isShared else { return .locked(file) }
                    wasReplaced = true
                    // A read needs no new one.
                    do throws(FileFault) {
                        try replaceShared(in: surroundings)
                    } catch {
                        guard !makes else { throw error }
                        return .locked(file)
                    }
                }
            } catch {
                try? files.unlock(file)
                throw error
            }
            // Nobody writes to this one any more. It is closed where nobody looks at it.
            let name = opened.withLock { opened in
                try? files.close(file)
                defer { opened = nil }
                return opened?.name
            }
            lastRead.withLock { $0 = name }
        }
        throw FileFault.notAFile()
    }

    private func open(_ surroundings: Surroundings, makes: Bool) throws(FileFault) -> Int32? {
        if let file = opened.withLock({ $0?.file }) { return file }
        guard let partition = surroundings.partition else { return nil }
        do throws(FileFault) {
            return try openFile(in: partition, makes: makes)
        } catch {
            guard error.isObstacle else {
                if error.isAbsence || (!makes && error.isRefusal) { return nil }
                throw error
            }
            guard makes else { return nil }
            surroundings.clear()
            return try openFile(in: partition, makes: true)
        }
    }

    private func openFile(in partition: OpenFolder, makes: Bool) throws(FileFault) -> Int32 {
        let file = try partition.open(Self.name, makes ? .appending : .appendingIfThere)
        let status: FileStatus
        do throws(FileFault) {
            status = try files.status(file)
            guard status.kind == .file else { throw FileFault.notAFile() }
        } catch {
            try? files.close(file)
            throw error
        }
        opened.withLock { $0 = Opened(file: file, identity: status.identity) }
        return file
    }

    private func catchUp(_ file: Int32, to size: Int, _ hear: ([DiskChange]?) -> Void) throws(FileFault) {
        let known = opened.withLock { $0?.position } ?? 0
        if size > known, size - known > Self.readableLength { return skip(to: size, hear) }
        // In parts, and only as much as nobody has to wait for.
        while let position = opened.withLock({ $0?.position }), position < size {
            let start = position - position % DiskChange.size
            let bytes = try files.readAll(file, length: min(size - start, Self.greatestLength), at: Int64(start))
            var changes = DiskChange.all(in: bytes)
            opened.withLock { $0?.date(&changes) }
            if position == 0 { begin(&changes, hear) }
            hear(changes)
            // Only now: who finds that nothing is new here must not find what is old either.
            let end = bytes.count < Self.greatestLength ? size : start + bytes.count
            opened.withLock { $0?.position = end }
        }
    }

    /// Hears of what nobody can read: of anything, until now.
    private func skip(to size: Int, _ hear: ([DiskChange]?) -> Void) {
        hear(nil)
        hear([DiskChange(kind: .follows, time: MachineTime.now)])
        opened.withLock { opened in
            if opened?.name == nil { opened?.name = .random }
            opened?.position = size
        }
    }

    /// A journal is read from its beginning.
    private func begin(_ changes: inout [DiskChange], _ hear: ([DiskChange]?) -> Void) {
        let known = lastRead.withLock { $0 }
        let follows = changes.firstIndex { $0.kind == .follows }
        if let follows, changes[follows].subject == known {
            changes.remove(at: follows)
        } else {
            hear(nil)
        }
        // One that doesn't say its name gets one that nobody knows, so that none follows it.
        let name = changes.first { $0.kind == .begun }?.subject ?? .random
        opened.withLock { $0?.name = name }
    }
}
