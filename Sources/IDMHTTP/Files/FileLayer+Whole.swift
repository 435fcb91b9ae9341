extension FileLayer {
    /// Writes all of some bytes. What was written is counted, whether it fails or not.
    func writeAll(
        _ file: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64, counting written: inout Int
    ) throws(FileFault) {
        while written < bytes.count {
            written += try write(
                file, UnsafeRawBufferPointer(rebasing: bytes[written...]), at: offset + Int64(written))
        }
    }

    /// Replaces a file with these bytes in one step, by writing a second file and renaming it.
    func replace(
        _ path: String, by way: String, with bytes: [UInt8], synchronizing: Bool
    ) throws(FileFault) {
        // What a process that has ended left there may be open to others.
        if let left = try statusIfThere(way), left.mode & 0o177 != 0 { try removeIfThere(way) }
        let file = try open(way, .writing)
        do throws(FileFault) {
            try cut(file, to: 0)
            try bytes.lending { bytes throws(FileFault) in
                var written = 0
                try writeAll(file, bytes, at: 0, counting: &written)
            }
            if synchronizing { try synchronize(file) }
        } catch {
            try? close(file)
            throw error
        }
        try close(file)
        try rename(way, path)
    }

    /// Returns the contents of a file. Nil if it can't be read, isn't a regular file, or has a megabyte or more.
    func contents(of path: String) -> [UInt8]? {
        guard let file = try? open(path, .reading) else { return nil }
        defer { try? close(file) }
        guard let status = try? status(file), status.kind == .file, status.size < 1 << 20 else { return nil }
        var bytes: [UInt8] = []
        while bytes.count < status.size {
            guard let more = try? read(file, Int(status.size) - bytes.count, at: Int64(bytes.count)), !more.isEmpty
            else { return nil }
            bytes += more
        }
        return bytes
    }

    /// Reads up to so many bytes.
    func read(_ file: Int32, _ count: Int, at offset: Int64) throws(FileFault) -> [UInt8] {
        var fault: FileFault?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, found in
            do throws(FileFault) {
                found = try read(file, UnsafeMutableRawBufferPointer(buffer), at: offset)
            } catch {
                fault = error
            }
        }
        if let fault { throw fault }
        return bytes
    }

    /// The status of what stands at a path. Nil if nothing does.
    func statusIfThere(_ path: String) throws(FileFault) -> FileStatus? {
        do throws(FileFault) {
            return try status(at: path)
        } catch {
            if error.isAbsence { return nil }
            throw error
        }
    }

    func removeIfThere(_ path: String) throws(FileFault) {
        do {
            try remove(path)
        } catch {
            if !error.isAbsence { throw error }
        }
    }

    /// Which folder it is, whatever the name that it was called by.
    func identity(ofFolder path: String) throws(FileFault) -> FileIdentity {
        let folder = try open(path, .folder)
        defer { try? close(folder) }
        return try status(folder).identity
    }

    func synchronize(folder path: String) throws(FileFault) {
        let folder = try open(path, .folder)
        defer { try? close(folder) }
        try synchronize(folder)
    }

    /// Returns the mode of files that this process creates. Creates one for a moment, replacing an existing file.
    func modeOfNewFiles(by way: String) throws(FileFault) -> UInt32 {
        try removeIfThere(way)
        return try modeOfNewFile(way) { _ throws(FileFault) in }
    }

    /// Returns the mode of files that are created for this user alone. It has more permissions where the file system
    /// doesn't store them. Creates one for a moment, under an unused name.
    func modeOfPrivateFiles(beside path: String) throws(FileFault) -> UInt32 {
        let number = String(UInt32.random(in: .min ... .max), radix: 16)
        return try modeOfNewFile("\(path).\(number)") { file throws(FileFault) in try permit(file, 0o600) }
    }

    private func modeOfNewFile(
        _ path: String, _ change: (Int32) throws(FileFault) -> Void
    ) throws(FileFault) -> UInt32 {
        let file = try open(path, .creating)
        defer {
            try? close(file)
            try? remove(path)
        }
        try change(file)
        return try status(file).mode
    }
}

extension [UInt8] {
    /// The bytes for as long as a function needs them, whatever it throws.
    func lending(_ body: (UnsafeRawBufferPointer) throws(FileFault) -> Void) throws(FileFault) {
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
