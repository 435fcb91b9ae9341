internal import IDMCore
internal import IDMFiles

extension DiskFolder {
    /// What a read has found.
    enum Finding {
        case entry(DiskRecord, file: [UInt8], value: Range<Int>)
        case nothing
        case damaged(CacheDamage)
    }

    /// Reads the entry of a key, and takes note that it was used. What can't be used is moved aside.
    ///
    /// - Parameter edition: Where it is asked for, the entry is that of this edition: it may be kept in memory for as
    ///   long as there is no other. Nil then, if others can't be heard of.
    func read(_ digest: Digest, _ key: [UInt8], edition: ((Int?) -> Void)? = nil) throws(FileFault) -> Finding {
        do {
            guard let file = try load(digest, edition) else { return .nothing }
            let (record, value) = try file.withUnsafeBytes { bytes throws(DiskDamage) in try DiskRecord.read(bytes) }
            guard record.digest == digest else { throw DiskDamage(.otherKey) }
            // Two keys with the same digest: the other one has the place.
            guard record.key == key else { return .nothing }
            return .entry(record, file: file, value: value)
        } catch let fault as FileFault {
            throw fault
        } catch {
            moveAside(digest) { file in
                let record = file.withUnsafeBytes { try? DiskRecord.read($0).record }
                return record?.digest != digest
            }
            return .damaged((error as? DiskDamage)?.damage ?? .foreign)
        }
    }

    /// The bytes of an entry, or nil if there is none.
    private func load(_ digest: Digest, _ edition: ((Int?) -> Void)?) throws -> [UInt8]? {
        guard let partition = try open() else { return nil }
        let file: Int32
        do throws(FileFault) {
            if let edition {
                // What is opened while nobody changes anything is that of this moment, however long it takes to read.
                let held = try tryHold(partition, makes: false) { () throws(FileFault) in
                    edition(journal.isCurrent ? self.edition : nil)
                    return try partition.open(digest.hex, .reading)
                }
                if let held {
                    file = held
                } else {
                    edition(nil)
                    file = try partition.open(digest.hex, .reading)
                }
            } else {
                file = try partition.open(digest.hex, .reading)
            }
        } catch {
            if error.isAbsence { return nil }
            if error.isLink || error.isSocket { throw DiskDamage(.notAFile) }
            throw error
        }
        defer { try? files.close(file) }
        let status = try files.status(file)
        guard status.kind == .file else { throw DiskDamage(.notAFile) }
        guard status.length <= DiskRecord.greatestLength else { throw DiskDamage(.foreign) }
        let bytes = try files.readAll(file, length: status.length)
        // What has another name as well isn't this cache's alone.
        if bounds.exist, status.links <= 1 { try? files.touch(file, nextUse()) }
        return bytes
    }

    // MARK: What can't be used

    /// Puts the entry of a key where it can be looked at, and can't be read as an entry. Where another process changes
    /// something it stays: the next read finds it.
    ///
    /// - Parameter isDamaged: Says it of what stands there, of which another may have been written since it was read.
    func moveAside(_ digest: Digest, if isDamaged: ([UInt8]) -> Bool) {
        let name = digest.hex
        guard let partition = try? open() else { return }
        do throws(FileFault) {
            _ = try tryHold(partition) { () throws(FileFault) in
                guard isThere(name, in: partition, and: isDamaged) else { return }
                let old = try partition.status(of: name)
                setAside(name, in: partition)
                let isEntry = old.kind == .file
                let change = DiskChange(
                    kind: .lost, subject: digest, time: MachineTime.now, bytes: isEntry ? -old.length : 0,
                    entries: isEntry ? -1 : 0)
                do throws(FileFault) { try tell(change) } catch { withdraw() }
            }
        } catch {
            // It isn't served in any case. The next count finds what is there.
            if isThere(name, in: partition, and: isDamaged) { setAside(name, in: partition) }
            forgetUsage()
        }
    }

    /// Whether something is there that is no file of an entry, or one of which something is true.
    private func isThere(_ name: String, in partition: OpenFolder, and isDamaged: ([UInt8]) -> Bool) -> Bool {
        let file: Int32
        do throws(FileFault) {
            file = try partition.open(name, .reading)
        } catch {
            return error.isLink || error.isSocket
        }
        defer { try? files.close(file) }
        guard let status = try? files.status(file) else { return false }
        guard status.kind == .file, status.length <= DiskRecord.greatestLength else { return true }
        return (try? files.readAll(file, length: status.length)).map(isDamaged) ?? false
    }

    /// Puts a file out of the way, or a folder, or a link, under a name that nothing else has.
    func setAside(_ name: String, in partition: OpenFolder) {
        do throws(FileFault) {
            let damaged = try makeFolder(Self.damaged, in: partition)
            let number = String(UInt64(bitPattern: nextUse()), radix: 16)
            let zeros = String(repeating: "0", count: max(0, 16 - number.count))
            try partition.rename(name, to: damaged, as: zeros + number + "-" + name)
            limit(damaged)
        } catch {
            // Gone at least, where that can be done.
            try? partition.remove(name)
        }
    }

    /// Keeps what was set aside from growing without end: the oldest goes first, which its name tells.
    private func limit(_ damaged: OpenFolder) {
        guard let names = try? damaged.names().sorted(by: >) else { return }
        var length = 0
        for (index, name) in names.enumerated() {
            length = length.addingSaturating((try? damaged.status(of: name))?.length ?? 0)
            if index >= Self.damagedLimit || length > damagedLength { try? damaged.remove(name) }
        }
    }

    /// How many damaged files are kept for somebody to look at.
    static var damagedLimit: Int { 32 }

    /// How long they may be together: a tenth of what the entries may be.
    private var damagedLength: Int { bounds.bytes.map { $0 / 10 } ?? 16 << 20 }

    // MARK: Uses

    /// Takes note that an entry was used in memory, of which its file is told later.
    func noteUse(_ digest: Digest) {
        guard bounds.exist else { return }
        let time = nextUse()
        uses.withLock { $0[digest] = time }
    }

    /// Tells the files when they were used, once there are enough of them to make it worth it.
    func tellUses(atLeast count: Int) {
        guard bounds.exist else { return }
        let told = uses.withLock { uses in
            guard uses.count >= count else { return [:] as [Digest: Int64] }
            defer { uses = [:] }
            return uses
        }
        guard !told.isEmpty, let partition = try? open() else { return }
        for (digest, time) in told {
            guard let file = try? partition.open(digest.hex, .reading) else { continue }
            // It may have been written anew since, or used by another process.
            if let status = try? files.status(file), status.links <= 1,
                status.use < time || status.use > latestUse
            {
                try? files.touch(file, time)
            }
            try? files.close(file)
        }
    }
}
