extension FileLayer {
    /// Writes all bytes. The count includes what was written before a failure.
    ///
    /// - Parameter offset: The position in the file. Nil for the current position.
    package func writeAll(
        _ file: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64? = nil, counting written: inout Int
    ) throws(FileFault) {
        while written < bytes.count {
            written += try write(
                file, UnsafeRawBufferPointer(rebasing: bytes[written...]), at: offset.map { $0 + Int64(written) })
        }
    }

    package func writeAll(_ file: Int32, _ bytes: [UInt8], counting written: inout Int) throws(FileFault) {
        try bytes.lending { bytes throws(FileFault) in try writeAll(file, bytes, counting: &written) }
    }

    /// Reads `length` bytes, or fewer if the file ends before.
    ///
    /// - Parameter offset: The position in the file. Nil for the current position.
    package func readAll(_ file: Int32, length: Int, at offset: Int64? = nil) throws(FileFault) -> [UInt8] {
        var fault: FileFault?
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            do throws(FileFault) {
                while count < length {
                    let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
                    let more = try read(file, rest, at: offset.map { $0 + Int64(count) })
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

    /// Returns the contents of a file. Nil if it can't be read, isn't a regular file, or is longer than `limit`.
    package func contents(of place: FilePlace, limit: Int = 1 << 20) -> [UInt8]? {
        guard let file = try? open(place, .reading) else { return nil }
        defer { try? close(file) }
        guard let status = try? status(file), status.kind == .file, status.size <= limit,
            let bytes = try? readAll(file, length: Int(status.size), at: 0), bytes.count == status.size
        else { return nil }
        return bytes
    }

    /// Replaces a file with these bytes in one step, by writing a second file and renaming it. The second file is a
    /// new one: what is in its place is removed.
    package func replace(
        _ place: FilePlace, by way: FilePlace, with bytes: [UInt8], synchronizing: Bool
    ) throws(FileFault) {
        let file = try openNew(way)
        do throws(FileFault) {
            var written = 0
            try writeAll(file, bytes, counting: &written)
            if synchronizing { try synchronize(file) }
        } catch {
            try? close(file)
            throw error
        }
        try close(file)
        try rename(way, place)
    }

    /// Creates a file for this user alone, in place of what is there: a process that has ended may have left it open to
    /// others, and a hard link is another name of a file of theirs.
    private func openNew(_ place: FilePlace) throws(FileFault) -> Int32 {
        do throws(FileFault) {
            return try open(place, .creating)
        } catch {
            guard error.isPresence else { throw error }
        }
        try removeIfThere(place)
        return try open(place, .creating)
    }

    // MARK: Locks

    /// Locks a file. Returns false if another descriptor holds the lock. Where the file system has no locks, processes
    /// don't take turns.
    package func tryLock(_ file: Int32) throws(FileFault) -> Bool {
        do throws(FileFault) {
            try lock(file, waits: false)
        } catch {
            if error.isLocked { return false }
            guard error.isLackOfLocks else { throw error }
        }
        return true
    }

    /// Locks a file, and waits for other descriptors. Where the file system has no locks, there is nothing to wait for.
    package func waitForLock(_ file: Int32) throws(FileFault) {
        do throws(FileFault) {
            try lock(file, waits: true)
        } catch {
            guard error.isLackOfLocks else { throw error }
        }
    }

    // MARK: Paths

    package func contents(of path: String, limit: Int = 1 << 20) -> [UInt8]? { contents(of: .path(path), limit: limit) }

    package func replace(
        _ path: String, by way: String, with bytes: [UInt8], synchronizing: Bool
    ) throws(FileFault) {
        try replace(.path(path), by: .path(way), with: bytes, synchronizing: synchronizing)
    }

    package func open(_ path: String, _ way: FileOpening) throws(FileFault) -> Int32 { try open(.path(path), way) }
    package func status(at path: String) throws(FileFault) -> FileStatus { try status(at: .path(path)) }
    package func rename(_ path: String, _ target: String) throws(FileFault) { try rename(.path(path), .path(target)) }
    package func link(_ path: String, _ target: String) throws(FileFault) { try link(.path(path), .path(target)) }
    package func remove(_ path: String) throws(FileFault) { try remove(.path(path)) }

    /// Returns the status of what is at a path. Nil if nothing is.
    package func statusIfThere(_ path: String) throws(FileFault) -> FileStatus? { try statusIfThere(.path(path)) }

    package func statusIfThere(_ place: FilePlace) throws(FileFault) -> FileStatus? {
        do throws(FileFault) {
            return try status(at: place)
        } catch {
            if error.isAbsence { return nil }
            throw error
        }
    }

    package func removeIfThere(_ path: String) throws(FileFault) { try removeIfThere(.path(path)) }

    package func removeIfThere(_ place: FilePlace) throws(FileFault) {
        do throws(FileFault) {
            try remove(place)
        } catch {
            if !error.isAbsence { throw error }
        }
    }

    /// Returns the identity of a folder, whatever name it was called by.
    package func identity(ofFolder path: String) throws(FileFault) -> FileIdentity {
        let folder = try open(path, .namedFolder)
        defer { try? close(folder) }
        return try status(folder).identity
    }

    package func synchronize(folder path: String) throws(FileFault) {
        let folder = try open(path, .namedFolder)
        defer { try? close(folder) }
        try synchronize(folder)
    }

    /// Returns the mode of files that this process creates. Creates one for a moment, replacing an existing file.
    package func modeOfNewFiles(by way: String) throws(FileFault) -> UInt32 {
        try removeIfThere(way)
        return try modeOfNewFile(way) { _ throws(FileFault) in }
    }

    /// Returns the mode of files that are created for this user alone. It has more permissions where the file system
    /// doesn't store them. Creates one for a moment, under an unused name.
    package func modeOfPrivateFiles(beside path: String) throws(FileFault) -> UInt32 {
        let number = String(UInt32.random(in: .min ... .max), radix: 16)
        return try modeOfNewFile("\(path).\(number)") { file throws(FileFault) in try permit(file, 0o600) }
    }

    private func modeOfNewFile(
        _ path: String, _ change: (Int32) throws(FileFault) -> Void
    ) throws(FileFault) -> UInt32 {
        let file = try open(path, .creatingForAll)
        defer {
            try? close(file)
            try? remove(path)
        }
        try change(file)
        return try status(file).mode
    }
}

extension [UInt8] {
    /// Calls a function with the bytes. Errors keep their type.
    package func lending(_ body: (UnsafeRawBufferPointer) throws(FileFault) -> Void) throws(FileFault) {
        var fault: FileFault?
        withUnsafeBytes { bytes in
            do throws(FileFault) {
                try body(bytes)
            } catch {
                fault = error
            }
        }
        if let fault { throw fault }
    }
}
