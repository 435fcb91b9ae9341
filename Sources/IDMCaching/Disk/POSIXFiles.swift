#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The calls of the system itself.
struct POSIXFiles: FileLayer {
    func open(_ place: FilePlace, _ way: FileOpening) throws(FileFault) -> Int32 {
        // A link in the place of an entry is never followed, and what would block, as a pipe does, doesn't.
        let flags =
            switch way {
            case .reading: O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
            case .creating: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
            case .appending: O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
            case .appendingIfThere: O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
            case .folder: O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
            case .namedFolder: O_RDONLY | O_DIRECTORY | O_CLOEXEC
            }
        return try call(.open) { openat(place.directory, place.name, flags, 0o600) }
    }

    func status(_ file: Int32) throws(FileFault) -> FileStatus {
        var status = stat()
        try call(.status) { fstat(file, &status) }
        return FileStatus(status)
    }

    func status(at place: FilePlace) throws(FileFault) -> FileStatus {
        var status = stat()
        try call(.status) { fstatat(place.directory, place.name, &status, AT_SYMLINK_NOFOLLOW) }
        return FileStatus(status)
    }

    func read(_ file: Int32, _ bytes: UnsafeMutableRawBufferPointer) throws(FileFault) -> Int {
        try call(.read) { systemRead(file, bytes) }
    }

    func read(_ file: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileFault) -> Int {
        try call(.read) { pread(file, bytes.baseAddress, bytes.count, off_t(offset)) }
    }

    func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) throws(FileFault) -> Int {
        try call(.write) { systemWrite(file, bytes) }
    }

    func touch(_ file: Int32, _ time: Int64) throws(FileFault) {
        let time = timespec(tv_sec: .init(time / 1_000_000_000), tv_nsec: .init(time % 1_000_000_000))
        try call(.touch) {
            withUnsafePointer(to: (time, time)) { pair in
                pair.withMemoryRebound(to: timespec.self, capacity: 2) { futimens(file, $0) }
            }
        }
    }

    func synchronize(_ file: Int32) throws(FileFault) {
        #if canImport(Darwin)
        // There, fsync leaves the data in the drive's own memory. Not every volume knows how to do better.
        if fcntl(file, F_FULLFSYNC) == 0 { return }
        #endif
        try call(.synchronize) { fsync(file) }
    }

    func close(_ file: Int32) throws(FileFault) {
        // Interrupted, it has closed the file nevertheless: asked again, it could close somebody else's.
        guard systemClose(file) == 0 || errno == EINTR else { throw FileFault(call: .close, code: errno) }
    }

    func duplicate(_ file: Int32) throws(FileFault) -> Int32 {
        try call(.duplicate) { fcntl(file, F_DUPFD_CLOEXEC, 0) }
    }

    func lock(_ file: Int32) throws(FileFault) {
        do throws(FileFault) {
            try call(.lock) { flock(file, LOCK_EX) }
        } catch {
            // Not every volume of a network knows of locks. Processes that share one there don't take turns.
            guard error.isLackOfLocks else { throw error }
        }
    }

    func tryLock(_ file: Int32) throws(FileFault) -> Bool {
        do throws(FileFault) {
            try call(.lock) { flock(file, LOCK_EX | LOCK_NB) }
        } catch {
            if error.isLocked { return false }
            guard error.isLackOfLocks else { throw error }
        }
        return true
    }

    func unlock(_ file: Int32) throws(FileFault) {
        try call(.unlock) { flock(file, LOCK_UN) }
    }

    func rename(_ place: FilePlace, _ target: FilePlace) throws(FileFault) {
        try call(.rename) { renameat(place.directory, place.name, target.directory, target.name) }
    }

    func remove(_ place: FilePlace) throws(FileFault) {
        try call(.remove) { unlinkat(place.directory, place.name, 0) }
    }

    func makeFolder(_ place: FilePlace) throws(FileFault) {
        try call(.makeFolder) { mkdirat(place.directory, place.name, 0o700) }
    }

    func names(in folder: Int32) throws(FileFault) -> [String] {
        // Opened anew: where a listing has come to belongs to the descriptor.
        let own = try call(.names) { openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard let listing = fdopendir(own) else {
            let fault = FileFault(call: .names, code: errno)
            _ = systemClose(own)
            throw fault
        }
        defer { closedir(listing) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(listing) else { break }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw FileFault(call: .names, code: errno) }
        return names
    }

    func isRunning(_ process: Int32) -> Bool {
        kill(process, 0) == 0 || errno == EPERM
    }

    func start(of process: Int32) -> UInt64? {
        #if canImport(Darwin)
        var (info, size) = (kinfo_proc(), MemoryLayout<kinfo_proc>.stride)
        var name = [CTL_KERN, KERN_PROC, KERN_PROC_PID, process]
        guard sysctl(&name, UInt32(name.count), &info, &size, nil, 0) == 0, size > 0 else { return nil }
        let time = info.kp_proc.p_un.__p_starttime
        return UInt64(bitPattern: Int64(time.tv_sec)) &* 1_000_000 &+ UInt64(bitPattern: Int64(time.tv_usec))
        #else
        guard let file = try? open(.path("/proc/\(process)/stat"), .reading) else { return nil }
        defer { try? close(file) }
        guard let bytes = try? readAll(file, length: 1_024) else { return nil }
        // The second field is a name, which may contain anything; the twenty-second is what is looked for.
        let fields = bytes.suffix(from: bytes.lastIndex(of: UInt8(ascii: ")")).map { $0 + 1 } ?? bytes.endIndex)
            .split(separator: UInt8(ascii: " "))
        return fields.count > 19 ? UInt64(String(decoding: fields[19], as: UTF8.self)) : nil
        #endif
    }

    /// Calls until no signal comes between.
    @discardableResult
    private func call<Result: SignedInteger>(
        _ name: FileFault.Call, _ body: () -> Result
    ) throws(FileFault) -> Result {
        while true {
            let result = body()
            if result >= 0 { return result }
            if errno != EINTR { throw FileFault(call: name, code: errno) }
        }
    }
}

// The names of these are also names of the layer.
private func systemRead(_ file: Int32, _ bytes: UnsafeMutableRawBufferPointer) -> Int {
    read(file, bytes.baseAddress, bytes.count)
}
private func systemWrite(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(file, bytes.baseAddress, bytes.count)
}
private func systemClose(_ file: Int32) -> Int32 { close(file) }

extension FilePlace {
    /// The folder for the calls of the system, or what stands for "the name is a path" there.
    fileprivate var directory: Int32 { folder ?? AT_FDCWD }
}

extension FileStatus {
    fileprivate init(_ status: stat) {
        let kind: Kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            default: .other
            }
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        self.init(
            kind: kind, identity: UInt64(status.st_ino), links: Int(status.st_nlink),
            size: Int(clamping: status.st_size),
            // As far as it fits: a file may say that it comes from any century.
            time: (Duration.seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))).nanoseconds)
    }
}
