internal import IDMCore

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
    func remove(_ path: String, telling change: DiskChange) throws(FileFault) {
        var untold: FileFault?
        do throws(FileFault) {
            try tell(change)
        } catch {
            guard error.isLackOfSpace else { throw error }
            untold = error
        }
        do throws(FileFault) {
            try removeIfThere(path)
        } catch {
            withdraw()
            throw error
        }
        if untold != nil { try tell(change) }
    }

    /// What was told did not happen, or nobody knows: how much there is has to be counted anew, by all.
    func withdraw() {
        try? journal.append(DiskChange(kind: .withdrawn, time: MachineTime.now))
        forgetUsage()
    }

    /// How much there is has to be counted anew, here.
    func forgetUsage() {
        usage.withLock { $0 = .unknown }
    }

    // MARK: One entry

    /// Removes an entry. What was asked for before a moment doesn't land in its place.
    func remove(_ digest: Digest, asked: Int64) throws(FileFault) {
        try hold { () throws(FileFault) in try removeEntry(digest, asked: asked) }
        try synchronizeIfThere(path)
    }

    /// Removes an entry if it is there, and tells of it in any case: somebody may be about to write it. What was asked
    /// for before a moment doesn't land after it; without one, only the entry goes. To be called while holding.
    func removeEntry(_ digest: Digest, asked: Int64?) throws(FileFault) {
        let place = place(of: digest)
        let old = try? files.status(at: place)
        let isEntry = old?.kind == .file
        let change = DiskChange(
            kind: asked == nil ? .lost : .removed, subject: digest, time: asked ?? MachineTime.now,
            bytes: isEntry ? -(old?.size ?? 0) : 0, entries: isEntry ? -1 : 0)
        if old?.kind == .folder {
            try tell(change)
            setAside(place)
        } else {
            try remove(place, telling: change)
        }
    }

    /// Removes what is in the place of an entry that was heard and can't land: it is older. Tells of it also where
    /// nothing is there, as somebody may be about to write something older; but not after a wipe, which is known to
    /// all: nobody is to learn of the key. Returns false if what is there is newer. To be called while holding.
    func clearEntry(_ digest: Digest, asked: Int64) throws(FileFault) -> Bool {
        let isThere = try statusIfThere(place(of: digest)) != nil
        if isThere, try asksLater(place(of: digest), than: asked) { return false }
        if isThere || asked > others.withLock({ $0.swept }) { try removeEntry(digest, asked: asked) }
        return true
    }

    /// Whether what stands in a place was asked for later than something else. What isn't a whole entry wasn't.
    private func asksLater(_ place: String, than asked: Int64) throws(FileFault) -> Bool {
        guard let file = try openEntry(place) else { return false }
        defer { try? files.close(file) }
        return try record(in: file, files.status(file))?.askedSinceStart ?? 0 > asked
    }

    // MARK: Many entries

    /// Removes the entries that bear a tag, by reading each.
    ///
    /// What can't be read could bear it. It is told, and doesn't keep the rest from going.
    func removeAll(tagged tag: String, asked: Int64) throws(FileFault) {
        func tellAll() throws(FileFault) {
            try hold { () throws(FileFault) in
                try tell(DiskChange(kind: .tagRemoved, subject: Digest(of: tag.utf8), time: asked))
            }
        }
        do throws(FileFault) {
            try tellAll()
        } catch {
            guard error.isLackOfSpace else { throw error }
            // What goes makes space. What has landed meanwhile goes after it was told.
            try removeEntries(tagged: tag)
            try tellAll()
        }
        try removeEntries(tagged: tag)
        try synchronizeIfThere(path)
    }

    private func removeEntries(tagged tag: String) throws(FileFault) {
        var first: FileFault?
        for name in try names(in: path) {
            guard let digest = Digest(hex: name) else { continue }
            do throws(FileFault) {
                try remove(digest, ifTagged: tag)
            } catch {
                first = first ?? error
            }
        }
        if let first { throw first }
    }

    /// Removes an entry if it bears a tag. One that isn't whole bears none: it is found out when somebody reads it.
    private func remove(_ digest: Digest, ifTagged tag: String) throws(FileFault) {
        let place = place(of: digest)
        guard let file = try openEntry(place) else { return }
        defer { try? files.close(file) }
        let status = try files.status(file)
        guard let record = try record(in: file, status), record.tags.contains(tag) else { return }
        try hold { () throws(FileFault) in
            // While the file is open no other can have its number: another one here is one that was written since.
            guard try statusIfThere(place)?.identity == status.identity else { return }
            // What doesn't bear the tag, and was asked for before, may take its place.
            try removeEntry(digest, asked: nil)
        }
    }

    /// Removes everything that this partition holds: entries, what was moved aside, and what is being written.
    ///
    /// What can't be removed, or told, doesn't keep the rest from going. A folder that somebody has put there is left
    /// to them.
    func removeAll(asked: Int64) throws(FileFault) {
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
        func removeFiles() {
            remove(path) { Digest(hex: $0) != nil }
            remove(damaged) { _ in true }
            remove(writing) { !$0.hasPrefix(ownName) }
        }
        defer { forgetUsage() }
        var isHeld = false
        do throws(FileFault) {
            try hold { () throws(FileFault) in
                isHeld = true
                let change = DiskChange(kind: .allRemoved, time: asked)
                others.withLock { $0.hear(change) }
                let isTold = (try? tell(change)) != nil
                removeFiles()
                // Now there is space for it.
                if !isTold { try tell(change) }
                // It tells which keys there were. The next one is written where entries are, a folder that somebody may
                // have cleaned up, as it is empty most of the time.
                try? makeFolder(writing)
                try journal.retire(telling: change)
            }
        } catch {
            if !isHeld {
                removeFiles()
                renew()
            }
            throw error
        }
        if let first { throw first }
        for folder in [path, damaged, writing] { try synchronizeIfThere(folder) }
    }

    // MARK: What may not be there

    func statusIfThere(_ place: String) throws(FileFault) -> FileStatus? {
        do throws(FileFault) {
            return try files.status(at: place)
        } catch {
            if error.isAbsence { return nil }
            throw error
        }
    }

    /// Opens what stands in a place. Nil if nothing does, or something that can't be an entry.
    private func openEntry(_ place: String) throws(FileFault) -> Int32? {
        do throws(FileFault) {
            return try files.open(place, .reading)
        } catch {
            if error.isAbsence || error.isLink || error.isSocket { return nil }
            throw error
        }
    }

    /// What an open file says of itself. Nil if it isn't whole.
    private func record(in file: Int32, _ status: FileStatus) throws(FileFault) -> DiskRecord? {
        guard status.kind == .file, status.size <= DiskRecord.greatestLength else { return nil }
        let bytes = try files.readAll(file, length: status.size)
        return bytes.withUnsafeBytes { try? DiskRecord.read($0).record }
    }

    func names(in path: String) throws(FileFault) -> [String] {
        do {
            return try files.names(in: path)
        } catch {
            if error.isAbsence { return [] }
            throw error
        }
    }

    func removeIfThere(_ path: String) throws(FileFault) {
        do {
            try files.remove(path)
        } catch {
            if !error.isAbsence { throw error }
        }
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
