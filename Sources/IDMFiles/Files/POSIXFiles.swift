#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The system calls themselves.
package struct POSIXFiles: FileLayer {
    package init() {}

    package func open(_ place: FilePlace, _ way: FileOpening) throws(FileFault) -> Int32 {
        // A link is never followed, and what would block, as a pipe does, doesn't.
        let flags =
            switch way {
            case .reading: O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
            case .writing: O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
            case .creating, .creatingForAll: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
            case .appending: O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
            case .appendingIfThere: O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
            case .folder: O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
            case .namedFolder: O_RDONLY | O_DIRECTORY | O_CLOEXEC
            }
        return try call(.open, place) {
            openat(place.directory, place.name, flags, mode_t(way == .creatingForAll ? 0o666 : 0o600))
        }
    }

    package func status(_ file: Int32) throws(FileFault) -> FileStatus {
        var status = stat()
        try call(.status) { fstat(file, &status) }
        return FileStatus(status)
    }

    package func status(at place: FilePlace) throws(FileFault) -> FileStatus {
        var status = stat()
        try call(.status, place) { fstatat(place.directory, place.name, &status, AT_SYMLINK_NOFOLLOW) }
        return FileStatus(status)
    }

    package func read(
        _ file: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int64?
    ) throws(FileFault) -> Int {
        try call(.read) {
            offset.map { pread(file, bytes.baseAddress, bytes.count, off_t($0)) } ?? systemRead(file, bytes)
        }
    }

    package func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64?) throws(FileFault) -> Int {
        try call(.write) {
            offset.map { pwrite(file, bytes.baseAddress, bytes.count, off_t($0)) } ?? systemWrite(file, bytes)
        }
    }

    package func cut(_ file: Int32, to length: Int64) throws(FileFault) {
        try call(.cut) { ftruncate(file, off_t(length)) }
    }

    package func touch(_ file: Int32, _ time: Int64) throws(FileFault) {
        let time = timespec(tv_sec: .init(time / 1_000_000_000), tv_nsec: .init(time % 1_000_000_000))
        try call(.touch) {
            withUnsafePointer(to: (time, time)) { pair in
                pair.withMemoryRebound(to: timespec.self, capacity: 2) { futimens(file, $0) }
            }
        }
    }

    package func permit(_ file: Int32, _ mode: UInt32) throws(FileFault) {
        try call(.permit) { fchmod(file, mode_t(mode)) }
    }

    package func synchronize(_ file: Int32) throws(FileFault) {
        #if canImport(Darwin)
        // There, fsync leaves the data in the drive's own memory. Not every volume knows how to do better.
        if fcntl(file, F_FULLFSYNC) == 0 { return }
        #endif
        try call(.synchronize) { fsync(file) }
    }

    package func close(_ file: Int32) throws(FileFault) {
        // When interrupted, it has closed the file nevertheless: a second call could close a file of another thread.
        guard systemClose(file) == 0 || errno == EINTR else { throw FileFault(call: .close, code: errno) }
    }

    package func duplicate(_ file: Int32) throws(FileFault) -> Int32 {
        try call(.duplicate) { fcntl(file, F_DUPFD_CLOEXEC, 0) }
    }

    package func lock(_ file: Int32, waits: Bool) throws(FileFault) {
        try call(.lock) { flock(file, waits ? LOCK_EX : LOCK_EX | LOCK_NB) }
    }

    package func unlock(_ file: Int32) throws(FileFault) {
        try call(.unlock) { flock(file, LOCK_UN) }
    }

    package func rename(_ place: FilePlace, _ target: FilePlace) throws(FileFault) {
        try call(.rename, target) { renameat(place.directory, place.name, target.directory, target.name) }
    }

    package func link(_ place: FilePlace, _ target: FilePlace) throws(FileFault) {
        try call(.link, target) { linkat(place.directory, place.name, target.directory, target.name, 0) }
    }

    package func remove(_ place: FilePlace) throws(FileFault) {
        try call(.remove, place) { unlinkat(place.directory, place.name, 0) }
    }

    package func makeFolder(_ place: FilePlace) throws(FileFault) {
        try call(.makeFolder) { mkdirat(place.directory, place.name, 0o700) }
    }

    package func names(in folder: Int32) throws(FileFault) -> [String] {
        // Opened anew: the position of a listing belongs to the descriptor.
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

    package var session: String? {
        #if canImport(Darwin)
        var bytes = [UInt8](repeating: 0, count: 64)
        var length = bytes.count
        guard sysctlbyname("kern.bootsessionuuid", &bytes, &length, nil, 0) == 0 else { return nil }
        #else
        guard let file = try? open("/proc/sys/kernel/random/boot_id", .reading) else { return nil }
        defer { try? close(file) }
        guard let bytes = try? readAll(file, length: 64), !bytes.isEmpty else { return nil }
        #endif
        return String(decoding: bytes.prefix { $0 > 32 }, as: UTF8.self)
    }

    /// Calls until no signal interrupts the call.
    @discardableResult
    private func call<Result: SignedInteger>(
        _ name: FileFault.Call, _ place: FilePlace? = nil, _ body: () -> Result
    ) throws(FileFault) -> Result {
        while true {
            let result = body()
            if result >= 0 { return result }
            let code = errno
            guard code == EINTR else {
                throw FileFault(
                    call: name, code: code, name: place.map { $0.folder == nil ? $0.name.lastName : "" } ?? "")
            }
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
    /// The folder for system calls.
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
        let (modified, changed) = (status.st_mtimespec, status.st_ctimespec)
        #else
        let (modified, changed) = (status.st_mtim, status.st_ctim)
        #endif
        self.init(
            kind: kind, size: Int64(status.st_size),
            identity: FileIdentity(
                device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(truncatingIfNeeded: status.st_ino)),
            mode: UInt32(status.st_mode) & 0o777, links: UInt64(status.st_nlink),
            modified: Duration(modified), changed: Duration(changed))
    }
}

extension Duration {
    fileprivate init(_ time: timespec) {
        self = .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
