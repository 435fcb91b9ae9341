internal import IDMFiles

/// The files of a part: takes them, gives the part its name, and removes them. What is in them is not its business.
struct PartFiles: Sendable {
    let place: DownloadPlace
    let files: any FileLayer

    /// What stands in the sidecar, whoever has written it.
    var writtenDown: DownloadSidecar? { files.contents(of: place.sidecar).flatMap { DownloadSidecar($0) } }

    // MARK: The part

    /// Takes the part for this download alone. It is made if it isn't there.
    ///
    /// - Parameter destinations: Where the part may have got its name already.
    func take(for destinations: some Sequence<String>) throws(FileFault) -> (file: Int32, status: FileStatus) {
        // Again where somebody was quicker, which nobody is for ever.
        for _ in 0..<100 {
            let file = try files.open(place.part, .writing)
            do throws(FileFault) {
                if let status = try take(file, for: destinations) { return (file, status) }
            } catch {
                release(file)
                throw FileFault(call: error.call, code: error.code, name: place.part.lastName)
            }
            release(file)
        }
        throw .stale(place.part.lastName)
    }

    /// Takes a file for this part alone. Nil if whoever had it before has put it into its place meanwhile.
    private func take(_ file: Int32, for destinations: some Sequence<String>) throws(FileFault) -> FileStatus? {
        try files.lock(file, waits: false)
        let status = try files.status(file)
        guard status.kind == .file else { throw .notAFile(place.part.lastName) }
        guard try isInPlace(status) else { return nil }
        let isOwn = isDone(status, destinations) ? true : try isOwn(status)
        guard isOwn else { throw .presence(place.part.lastName) }
        // A file that is done has been given its name, and not lost this one: what is written here would be written to
        // it.
        guard status.links <= 1 else {
            try files.remove(place.part)
            return nil
        }
        try files.permit(file, 0o600)
        return status
    }

    /// Whether a file is a part. Others have files of such names as well, and what they have written is not to be lost.
    private func isOwn(_ status: FileStatus) throws(FileFault) -> Bool {
        // A part has a sidecar from its first byte on. It may be one that was torn, and can't be read.
        let isKnown = status.size == 0 ? true : try files.statusIfThere(place.sidecar) != nil
        // And it is this user's alone from its first moment on.
        if status.mode & 0o177 == 0 || !isKnown { return isKnown }
        // But for the last one, in which it is whole and has no name yet. So its sidecar says, unless it was torn.
        if let bytes = files.contents(of: place.sidecar) {
            let known = DownloadSidecar(bytes)
            if known == nil, DownloadSidecar.mayBeTorn(bytes) { return true }
            if let known, status.identity.isStill(known.file), known.mayLand(as: status, session: files.session) {
                return true
            }
        }
        // Not every file system keeps to itself who may read what.
        return (try? files.modeOfPrivateFiles(beside: place.part)).map { $0 & 0o177 != 0 } ?? false
    }

    /// Whether a file is a part that has got its name, and kept this one.
    private func isDone(_ status: FileStatus, _ destinations: some Sequence<String>) -> Bool {
        guard status.links > 1 else { return false }
        for path in destinations {
            guard let other = try? files.status(at: path) else { return false }
            if other.identity == status.identity { return true }
        }
        return false
    }

    /// Whether a file is still what stands in the part's place.
    func isInPlace(_ status: FileStatus) throws(FileFault) -> Bool {
        try files.statusIfThere(place.part)?.identity == status.identity
    }

    /// Removes the part, which was taken, and what is known of it.
    func removeAll(_ file: Int32) throws(FileFault) {
        // The part last: it tells that there is something to remove, and keeps others away. It is without a sidecar for
        // a moment, so that it has to be empty by then, unless it is somebody's file already.
        let status = try files.status(file)
        if status.links <= 1, status.size > 0 { try files.cut(file, to: 0) }
        for path in [place.newSidecar, place.sidecar, place.part] { try files.removeIfThere(path) }
    }

    /// Removes what is known of a part that isn't there any more, in its place: nobody begins there meanwhile. That of
    /// one that couldn't be removed stays, for whoever comes next to know it, and that of another one, which somebody
    /// has begun by now.
    func removeSidecar(of part: FileIdentity) {
        guard let file = try? files.open(place.part, .writing) else { return }
        defer { release(file) }
        guard let status = taken(file), status.size == 0, status.links <= 1, (try? isOwn(status)) == true
        else { return }
        if let known = writtenDown, part.isStill(known.file) { try? files.removeIfThere(place.sidecar) }
        try? files.removeIfThere(place.part)
    }

    /// Removes the part that has become a file, or is empty, where its process had no time for that.
    func removeRemains(of destinations: some Sequence<String>) {
        guard let found = try? files.status(at: place.part), found.kind == .file, found.links > 1 || found.size == 0,
            let file = try? files.open(place.part, .reading)
        else { return }
        defer { release(file) }
        guard let status = taken(file), status.links > 1 || status.size == 0,
            isDone(status, destinations) || (try? isOwn(status)) == true
        else { return }
        guard status.links > 1 else {
            try? removeAll(file)
            return
        }
        try? files.removeIfThere(place.part)
        removeSidecar(of: status.identity)
    }

    /// The status of a file that is the part, and this process's alone until it is closed. Nil if another download has
    /// it, or has just left the place to others.
    private func taken(_ file: Int32) -> FileStatus? {
        guard (try? files.lock(file, waits: false)) != nil, let status = try? files.status(file),
            (try? isInPlace(status)) == true
        else { return nil }
        return status
    }

    /// Unlocks and closes a file. A process that was forked since may have it open, and would keep it locked.
    func release(_ file: Int32) {
        try? files.unlock(file)
        try? files.close(file)
    }

    // MARK: The file

    /// The file of an identity, and of a size if that is known, in the first of some places that has it.
    func landed(
        _ file: FileIdentity, size: Int64?, in destinations: some Sequence<String>
    ) -> (path: String, size: Int64)? {
        for path in destinations {
            guard let status = try? files.status(at: path) else { return nil }
            if status.identity.isStill(file), status.kind == .file, size ?? status.size == status.size {
                return (path, status.size)
            }
        }
        return nil
    }

    /// Puts the part into the first of some places that is free, or is to be made so. Returns which one that was.
    func move(
        to destinations: some Sequence<String>, existing: ServiceDownload.ExistingFile
    ) throws(FileFault) -> String {
        var last = FileFault.presence(place.part.lastName)
        for path in destinations {
            do throws(FileFault) {
                if existing == .replace {
                    if (try? files.status(at: path))?.kind == .folder { throw .folder(path.lastName) }
                    try files.rename(place.part, path)
                } else {
                    try give(path)
                }
                return path
            } catch {
                guard error.isPresence else { throw error }
                last = error
                if existing != .number, (try? files.status(at: path))?.kind == .folder {
                    throw .folder(path.lastName)
                }
            }
        }
        throw last
    }

    /// Gives the part its name, unless something has it: in one step, so that nobody's file is ever replaced.
    private func give(_ path: String) throws(FileFault) {
        do throws(FileFault) {
            try files.link(place.part, path)
        } catch {
            guard error.isUnknown else { throw error }
            // Not every file system knows second names. Then somebody may come between the look and the step.
            guard (try? files.status(at: path)) == nil else { throw .presence(path.lastName) }
            return try files.rename(place.part, path)
        }
        try? files.remove(place.part)
    }
}
