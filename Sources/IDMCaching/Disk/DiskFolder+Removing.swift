internal import IDMCore
internal import IDMFiles

extension DiskFolder {
    // MARK: Telling

    /// Tells others of a removal, before it or after it, and takes note of it here. To be called while holding.
    func tell(_ change: DiskChange) throws(FileFault) {
        try journal.append(change)
        usage.withLock { $0.hear(change) }
        renew()
    }

    /// Tells others of a removal and then makes it: who is killed in between has told too much, and never too little.
    ///
    /// On a full disk there may be no space to tell of it, until it is made.
    func remove(_ name: String, in partition: OpenFolder?, telling change: DiskChange) throws(FileFault) {
        var untold: FileFault?
        do throws(FileFault) {
            try tell(change)
        } catch {
            guard error.isLackOfSpace else { throw error }
            untold = error
        }
        do throws(FileFault) {
            try partition?.removeIfThere(name)
        } catch {
            withdraw()
            throw error
        }
        if untold != nil { try tell(change) }
    }

    /// What was told did not happen, or nobody knows: how much there is has to be counted anew, by all.
    ///
    /// - Parameter write: The write that was told and not made. What was asked for before it may land.
    func withdraw(_ write: DiskChange? = nil) {
        var change = DiskChange(kind: .withdrawn, time: write?.time ?? MachineTime.now)
        if let write { change.subject = write.subject }
        others.withLock { $0.hear(change) }
        try? journal.append(change)
        forgetUsage()
    }

    /// How much there is has to be counted anew, here.
    func forgetUsage() {
        usage.withLock { $0 = .unknown }
    }

    // MARK: One entry

    /// Removes an entry. What was asked for before a moment doesn't land in its place.
    func remove(_ digest: Digest, asked: Int64) throws(FileFault) {
        let partition = try open()
        try hold(partition) { () throws(FileFault) in try removeEntry(digest, in: partition, asked: asked) }
        try synchronizeIfNeeded(partition)
    }

    /// Removes an entry if it is there, and tells of it in any case: somebody may be about to write it. What was asked
    /// for before a moment doesn't land after it; without one, only the entry goes. To be called while holding.
    func removeEntry(_ digest: Digest, in partition: OpenFolder?, asked: Int64?) throws(FileFault) {
        let name = digest.hex
        let old = try? partition?.status(of: name)
        let isEntry = old?.kind == .file
        let change = DiskChange(
            kind: asked == nil ? .lost : .removed, subject: digest, time: asked ?? MachineTime.now,
            bytes: isEntry ? -(old?.length ?? 0) : 0, entries: isEntry ? -1 : 0)
        if let partition, old?.kind == .folder {
            try tell(change)
            setAside(name, in: partition)
        } else {
            try remove(name, in: partition, telling: change)
        }
    }

    /// Removes what is in the place of an entry that has no place here, by what others have done and by the answer to a
    /// question that is asked at the last moment.
    func clear(_ order: WriteOrder, if mayLand: () -> Bool) throws(FileFault) {
        let partition = try open()
        let isCleared = try hold(partition) { () throws(FileFault) in
            let verdict = others.withLock { $0.verdict(on: order) }
            guard let partition, mayLand() || verdict == .invalidated || verdict == .unknown
            else { return false }
            return try clearEntry(order.digest, in: partition, asked: order.asked)
        }
        if isCleared { try synchronizeIfNeeded(partition) }
    }

    /// Removes what is in the place of an entry that was heard and can't land: it is older. Tells of it also where
    /// nothing is there, as somebody may be about to write something older; but not after a wipe, which is known to
    /// all: nobody is to learn of the key. Returns false if what is there is newer. To be called while holding.
    func clearEntry(_ digest: Digest, in partition: OpenFolder, asked: Int64) throws(FileFault) -> Bool {
        let isThere = try partition.statusIfThere(of: digest.hex) != nil
        if isThere, try asksLater(digest.hex, in: partition, than: asked) { return false }
        if isThere || asked > others.withLock({ $0.swept }) { try removeEntry(digest, in: partition, asked: asked) }
        return true
    }

    /// Whether what stands in a place was asked for later than something else. What isn't a whole entry wasn't.
    private func asksLater(_ name: String, in partition: OpenFolder, than asked: Int64) throws(FileFault) -> Bool {
        guard let file = try openEntry(name, in: partition) else { return false }
        defer { try? files.close(file) }
        return try record(in: file, files.status(file))?.askedSinceStart ?? 0 > asked
    }

    // MARK: Many entries

    /// Removes the entries that bear a tag, by reading each.
    ///
    /// What can't be read could bear it. It is told, and doesn't keep the rest from going.
    func removeAll(tagged tag: String, asked: Int64) throws(FileFault) {
        let partition = try open()
        func tellAll() throws(FileFault) {
            try hold(partition) { () throws(FileFault) in
                try tell(DiskChange(kind: .tagRemoved, subject: Digest(of: tag.utf8), time: asked))
            }
        }
        do throws(FileFault) {
            try tellAll()
        } catch {
            guard error.isLackOfSpace else { throw error }
            // What goes makes space. What has landed meanwhile goes after it was told.
            try removeEntries(in: partition, tagged: tag)
            try tellAll()
        }
        try removeEntries(in: partition, tagged: tag)
        try synchronizeIfNeeded(partition)
    }

    private func removeEntries(in partition: OpenFolder?, tagged tag: String) throws(FileFault) {
        guard let partition else { return }
        var first: FileFault?
        for name in try partition.names() {
            guard let digest = Digest(hex: name) else { continue }
            do throws(FileFault) {
                try remove(digest, in: partition, ifTagged: tag)
            } catch {
                first = first ?? error
            }
        }
        if let first { throw first }
    }

    /// Removes an entry if it bears a tag. One that isn't whole bears none: it is found out when somebody reads it.
    private func remove(_ digest: Digest, in partition: OpenFolder, ifTagged tag: String) throws(FileFault) {
        let name = digest.hex
        guard let file = try openEntry(name, in: partition) else { return }
        defer { try? files.close(file) }
        let status = try files.status(file)
        guard let record = try record(in: file, status), record.tags.contains(tag) else { return }
        try hold(partition) { () throws(FileFault) in
            // While the file is open no other can have its number: another one here is one that was written since.
            guard try partition.statusIfThere(of: name)?.identity == status.identity else { return }
            // What doesn't bear the tag, and was asked for before, may take its place.
            try removeEntry(digest, in: partition, asked: nil)
        }
    }

    /// Removes everything that this partition holds: entries, what was moved aside, and what is being written.
    ///
    /// What can't be removed, or told, doesn't keep the rest from going. A folder that somebody has put there is left
    /// to them, and so is what a link leads to.
    func removeAll(asked: Int64) throws(FileFault) {
        let partition = try open()
        var isHeld = false
        var remains: FileFault?
        defer { forgetUsage() }
        do throws(FileFault) {
            try hold(partition) { () throws(FileFault) in
                isHeld = true
                let change = DiskChange(kind: .allRemoved, time: asked)
                others.withLock { $0.hear(change) }
                let isTold = (try? tell(change)) != nil
                remains = removeFiles(in: partition)
                // Now there is space for it.
                if !isTold { try tell(change) }
                // It tells which keys there were.
                try journal.retire(in: surroundings(partition), telling: change)
            }
        } catch {
            if !isHeld {
                _ = removeFiles(in: partition)
                renew()
            }
            throw error
        }
        if let remains { throw remains }
        try synchronizeIfNeeded(partition)
        for name in [Self.damaged, Self.writing] { try synchronizeIfNeeded(partition?.folder(name)) }
    }

    /// Removes all files, and returns why some are left.
    private func removeFiles(in partition: OpenFolder?) -> FileFault? {
        guard let partition else { return nil }
        var first: FileFault?
        func remove(from folder: () throws(FileFault) -> OpenFolder?, _ isMeant: (String) -> Bool) {
            do throws(FileFault) {
                guard let folder = try folder() else { return }
                for name in try folder.names() where isMeant(name) {
                    do throws(FileFault) {
                        try folder.removeIfThere(name)
                    } catch {
                        let isFolder = (try? folder.status(of: name))?.kind == .folder
                        if !isFolder { first = first ?? error }
                    }
                }
            } catch {
                first = first ?? error
            }
        }
        /// A folder in the partition's. What isn't one is removed.
        func inner(_ name: String) throws(FileFault) -> OpenFolder? {
            do throws(FileFault) {
                return try partition.folder(name)
            } catch {
                guard error == .noFolder else { throw error }
                try partition.removeIfThere(name)
                return nil
            }
        }
        remove(from: { () throws(FileFault) in partition }) { Digest(hex: $0) != nil }
        remove(from: { () throws(FileFault) in try inner(Self.damaged) }) { _ in true }
        remove(from: { () throws(FileFault) in try inner(Self.writing) }) { !$0.hasPrefix(ownName) }
        return first
    }

    // MARK: What may not be there

    /// Opens what stands in a place. Nil if nothing does, or something that can't be an entry.
    func openEntry(_ name: String, in partition: OpenFolder) throws(FileFault) -> Int32? {
        do throws(FileFault) {
            return try partition.open(name, .reading)
        } catch {
            if error.isAbsence || error.isLink || error.isSocket { return nil }
            throw error
        }
    }

    /// What an open file says of itself. Nil if it isn't whole.
    private func record(in file: Int32, _ status: FileStatus) throws(FileFault) -> DiskRecord? {
        guard status.kind == .file, status.length <= DiskRecord.greatestLength else { return nil }
        let bytes = try files.readAll(file, length: status.length)
        return bytes.withUnsafeBytes { try? DiskRecord.read($0).record }
    }

    /// Sees to it that what was removed from a folder isn't there again when the power comes back.
    func synchronizeIfNeeded(_ folder: OpenFolder?) throws(FileFault) {
        if isPowerSafe { try folder?.synchronize() }
    }
}
