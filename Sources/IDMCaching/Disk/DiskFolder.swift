internal import Synchronization

/// The files of one partition: what a disk cache does on its own threads, one call after the other.
///
///     <folder>/<partition>/<digest of a key>      an entry
///     <folder>/<partition>/writing/<process>-…    an entry on its way
///     <folder>/<partition>/damaged/<digest>       what could not be used
///
/// An entry is written beside its place and then renamed into it, so that whoever reads it, in this process or another,
/// finds the whole old one or the whole new one. Calls for the same key come one after the other; calls for different
/// keys come at the same time.
final class DiskFolder: Sendable {
    /// What a read has found.
    enum Finding {
        case entry(DiskRecord, file: [UInt8], value: Range<Int>)
        case nothing
        case damaged(CacheDamage)
    }

    let files: any FileLayer
    let path: String
    let bounds: DiskBounds
    let isPowerSafe: Bool
    /// How the names of the files begin that are being written through this.
    let ownName: String
    /// What is known of the files. Nil before anybody had to know.
    let usage = Mutex<DiskUsage?>(nil)
    private let parents: [String]
    private let isReady = Atomic(false)
    private let lastTemporary = Atomic<UInt64>(0)
    private let lastUse = Atomic<Int64>(0)

    var writing: String { path + "/writing" }
    var damaged: String { path + "/damaged" }

    /// - Parameters:
    ///   - parents: The folders that have to be there before the partition's own, outermost first.
    ///   - path: The partition's own folder.
    init(
        parents: [String], path: String, bounds: DiskBounds, isPowerSafe: Bool, files: any FileLayer, process: Int32
    ) {
        self.parents = parents
        self.path = path
        self.bounds = bounds
        self.isPowerSafe = isPowerSafe
        self.files = files
        ownName = "\(process)-\(UInt64.random(in: .min ... .max))-"
    }

    func place(of digest: Digest) -> String { path + "/" + digest.hex }

    // MARK: Reading

    /// Reads the entry of a key, and takes note that it was used. What can't be used is moved aside.
    func read(_ digest: Digest, _ key: [UInt8]) throws(FileFault) -> Finding {
        let place = place(of: digest)
        do {
            guard let file = try load(place) else { return .nothing }
            let (record, value) = try file.withUnsafeBytes { bytes throws(DiskDamage) in try DiskRecord.read(bytes) }
            guard record.digest == digest else { throw DiskDamage(.otherKey) }
            // Two keys with the same digest: the other one has the place.
            guard record.key == key else { return .nothing }
            return .entry(record, file: file, value: value)
        } catch let fault as FileFault {
            throw fault
        } catch {
            moveAside(digest)
            return .damaged((error as? DiskDamage)?.damage ?? .foreign)
        }
    }

    /// The bytes at a place, or nil if nothing is there.
    private func load(_ place: String) throws -> [UInt8]? {
        let file: Int32
        do {
            file = try files.open(place, .reading)
        } catch {
            if error.isAbsence { return nil }
            if error.isLink || error.isSocket { throw DiskDamage(.notAFile) }
            throw error
        }
        defer { try? files.close(file) }
        let status = try files.status(file)
        guard status.kind == .file else { throw DiskDamage(.notAFile) }
        guard status.size <= DiskRecord.greatestLength else { throw DiskDamage(.foreign) }
        let bytes = try read(file, length: status.size)
        if bounds.exist { try? files.touch(file, nextUse()) }
        return bytes
    }

    /// As many bytes, or fewer if the file ends before.
    func read(_ file: Int32, length: Int) throws(FileFault) -> [UInt8] {
        var fault: FileFault?
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            do throws(FileFault) {
                while count < length {
                    let rest = UnsafeMutableRawBufferPointer(buffer)[count...]
                    let more = try files.read(file, UnsafeMutableRawBufferPointer(rebasing: rest))
                    if more == 0 { break }
                    count += more
                }
            } catch {
                fault = error
            }
        }
        if let fault { throw fault }
        return bytes
    }

    /// Puts what is at a place where it can be looked at, and can't be read as an entry.
    func moveAside(_ digest: Digest) {
        do {
            try makeFolder(damaged)
            try files.rename(place(of: digest), damaged + "/" + digest.hex)
            limitDamaged()
        } catch {
            // Out of the way at least, where that can be done. It isn't served in any case.
            try? files.remove(place(of: digest))
        }
        usage.withLock { $0 = nil }
    }

    // MARK: Writing

    /// What has become of a write.
    enum Landing {
        case landed
        /// The question was answered with no.
        case refused
        /// Somebody else has wiped the folder meanwhile, and this write with it.
        case wiped
    }

    /// Writes an entry, if a question that is asked at the last moment is answered with yes.
    func write(_ file: [UInt8], _ digest: Digest, if mayLand: () -> Bool) throws(FileFault) -> Landing {
        try makeReady()
        let temporary = writing + "/" + ownName + "\(lastTemporary.add(1, ordering: .relaxed).newValue)"
        do throws(FileFault) {
            try fill(temporary, file)
            guard mayLand() else {
                try removeIfThere(temporary)
                return .refused
            }
            guard try land(temporary, digest, length: file.count) else { return .wiped }
            if isPowerSafe { try synchronize(folder: path) }
            return .landed
        } catch {
            try? files.remove(temporary)
            if error.isAbsence { isReady.store(false, ordering: .relaxed) }
            throw error
        }
    }

    /// Puts what was written into its place. False if it isn't there any more.
    private func land(_ temporary: String, _ digest: Digest, length: Int) throws(FileFault) -> Bool {
        let place = place(of: digest)
        do throws(FileFault) {
            guard bounds.exist else {
                try files.rename(temporary, place)
                return true
            }
            // Counted while nobody cleans, who could remove what is about to be replaced.
            try usage.withLock { usage throws(FileFault) in
                let old = try? files.status(at: place)
                try files.rename(temporary, place)
                usage?.replace(old?.size, by: length)
            }
            return true
        } catch {
            guard error.isAbsence, (try? files.status(at: writing))?.kind == .folder else { throw error }
            return false
        }
    }

    private func fill(_ path: String, _ bytes: [UInt8]) throws(FileFault) {
        let file = try files.open(path, .creating)
        do throws(FileFault) {
            try write(file, bytes)
            if bounds.exist { try files.touch(file, nextUse()) }
            if isPowerSafe { try files.synchronize(file) }
        } catch {
            try? files.close(file)
            throw error
        }
        // Some file systems say only here that what was written has no place.
        try files.close(file)
    }

    private func write(_ file: Int32, _ bytes: [UInt8]) throws(FileFault) {
        var fault: FileFault?
        bytes.withUnsafeBytes { bytes in
            do throws(FileFault) {
                var written = 0
                while written < bytes.count {
                    written += try files.write(file, UnsafeRawBufferPointer(rebasing: bytes[written...]))
                }
            } catch {
                fault = error
            }
        }
        if let fault { throw fault }
    }

    func synchronize(folder path: String) throws(FileFault) {
        let folder = try files.open(path, .folder)
        defer { try? files.close(folder) }
        try files.synchronize(folder)
    }

    // MARK: Removing

    func remove(_ digest: Digest) throws(FileFault) {
        let place = place(of: digest)
        if bounds.exist {
            try usage.withLock { usage throws(FileFault) in
                let old = try? files.status(at: place)
                try removeIfThere(place)
                if let old { usage?.remove(old.size) }
            }
        } else {
            try removeIfThere(place)
        }
        try synchronizeIfThere(path)
    }

    func removeIfThere(_ path: String) throws(FileFault) {
        do {
            try files.remove(path)
        } catch {
            if !error.isAbsence { throw error }
        }
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
        let age = CacheClock.system.stamp().time.nanoseconds - status.time
        return !files.isRunning(owner) || age > Duration.seconds(3600).nanoseconds
    }

    private func makeFolder(_ path: String) throws(FileFault) {
        do {
            try files.makeFolder(path)
        } catch {
            guard error.isPresence, try files.status(at: path).kind == .folder else { throw error }
        }
    }

    /// The latest time at which anything can have been used, in nanoseconds.
    var latestUse: Int64 { max(lastUse.load(ordering: .relaxed), CacheClock.system.stamp().time.nanoseconds) }

    /// The time of a use in nanoseconds, later than every one before.
    private func nextUse() -> Int64 {
        let now = CacheClock.system.stamp().time.nanoseconds
        while true {
            let last = lastUse.load(ordering: .relaxed)
            let next = max(last + 1, now)
            if lastUse.compareExchange(expected: last, desired: next, ordering: .relaxed).exchanged { return next }
        }
    }
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
