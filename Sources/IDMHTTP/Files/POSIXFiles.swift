#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The calls of the system itself.
struct POSIXFiles: FileLayer {
    func open(_ path: String, _ way: FileOpening) throws(FileFault) -> Int32 {
        // A link is never followed, and what would block, as a pipe does, doesn't.
        let flags =
            switch way {
            case .reading: O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
            case .writing: O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
            case .creating: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
            case .folder: O_RDONLY | O_DIRECTORY | O_CLOEXEC
            }
        return try call(.open, path) { systemOpen(path, flags, way == .creating ? 0o666 : 0o600) }
    }

    func status(_ file: Int32) throws(FileFault) -> FileStatus {
        var status = stat()
        try call(.status) { fstat(file, &status) }
        return FileStatus(status)
    }

    func status(at path: String) throws(FileFault) -> FileStatus {
        var status = stat()
        try call(.status, path) { lstat(path, &status) }
        return FileStatus(status)
    }

    func read(_ file: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileFault) -> Int {
        try call(.read) { pread(file, bytes.baseAddress, bytes.count, off_t(offset)) }
    }

    func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileFault) -> Int {
        try call(.write) { pwrite(file, bytes.baseAddress, bytes.count, off_t(offset)) }
    }

    func cut(_ file: Int32, to length: Int64) throws(FileFault) {
        try call(.cut) { ftruncate(file, off_t(length)) }
    }

    func lock(_ file: Int32) throws(FileFault) {
        try call(.lock) { flock(file, LOCK_EX | LOCK_NB) }
    }

    func permit(_ file: Int32, _ mode: UInt32) throws(FileFault) {
        try call(.permit) { fchmod(file, mode_t(mode)) }
    }

    func synchronize(_ file: Int32) throws(FileFault) {
        #if canImport(Darwin)
        // There, fsync leaves the data in the drive's own memory. Not every volume knows how to do better.
        if fcntl(file, F_FULLFSYNC) == 0 { return }
        #endif
        try call(.synchronize) { fsync(file) }
    }

    func close(_ file: Int32) throws(FileFault) {
        // A process that was forked since may have the file open, and would keep it locked.
        _ = flock(file, LOCK_UN)
        // When interrupted, it has closed the file nevertheless: a second call could close a file of another thread.
        guard systemClose(file) == 0 || errno == EINTR else { throw FileFault(call: .close, code: errno) }
    }

    func rename(_ path: String, _ target: String) throws(FileFault) {
        try call(.rename, target) { systemRename(path, target) }
    }

    func link(_ path: String, _ target: String) throws(FileFault) {
        try call(.link, target) { systemLink(path, target) }
    }

    func remove(_ path: String) throws(FileFault) {
        try call(.remove, path) { unlink(path) }
    }

    var session: String? {
        #if canImport(Darwin)
        var bytes = [UInt8](repeating: 0, count: 64)
        var length = bytes.count
        guard sysctlbyname("kern.bootsessionuuid", &bytes, &length, nil, 0) == 0 else { return nil }
        return String(decoding: bytes.prefix(while: { $0 != 0 }), as: UTF8.self)
        #else
        guard let file = try? open("/proc/sys/kernel/random/boot_id", .reading) else { return nil }
        defer { try? close(file) }
        let bytes = [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
            count = (try? read(file, UnsafeMutableRawBufferPointer(buffer), at: 0)) ?? 0
        }
        return bytes.isEmpty ? nil : String(decoding: bytes.prefix { $0 > 32 }, as: UTF8.self)
        #endif
    }

    /// Calls until no signal comes between.
    @discardableResult
    private func call<Result: SignedInteger>(
        _ name: FileFault.Call, _ path: String = "", _ body: () -> Result
    ) throws(FileFault) -> Result {
        while true {
            let result = body()
            if result >= 0 { return result }
            let code = errno
            if code != EINTR {
                throw FileFault(call: name, code: code, name: path.lastName)
            }
        }
    }
}

// The names of these are also names of the layer.
private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }
private func systemClose(_ file: Int32) -> Int32 { close(file) }
private func systemRename(_ path: String, _ target: String) -> Int32 { rename(path, target) }
private func systemLink(_ path: String, _ target: String) -> Int32 { link(path, target) }

extension FileStatus {
    fileprivate init(_ status: stat) {
        let kind: Kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            default: .other
            }
        self.init(
            kind: kind, size: Int64(status.st_size),
            identity: FileIdentity(
                device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(truncatingIfNeeded: status.st_ino)),
            mode: UInt32(status.st_mode) & 0o777, links: UInt64(status.st_nlink),
            modified: Duration(status.modified), changed: Duration(status.changed))
    }
}

extension stat {
    #if canImport(Darwin)
    fileprivate var modified: timespec { st_mtimespec }
    fileprivate var changed: timespec { st_ctimespec }
    #else
    fileprivate var modified: timespec { st_mtim }
    fileprivate var changed: timespec { st_ctim }
    #endif
}

extension Duration {
    fileprivate init(_ time: timespec) {
        self = .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}

extension FileFault {
    /// True if the file doesn't exist.
    var isAbsence: Bool { code == ENOENT || code == ENOTDIR }
    /// A folder stands where a file was to go.
    static func folder(_ name: String) -> FileFault { FileFault(call: .rename, code: EISDIR, name: name) }
    /// Something that isn't a file stands where one was to be.
    static func notAFile(_ name: String) -> FileFault { FileFault(call: .open, code: ELOOP, name: name) }
    /// Something stands where a file was to go.
    static func presence(_ name: String) -> FileFault { FileFault(call: .link, code: EEXIST, name: name) }

    /// The file is in use by another writer.
    static func use(_ name: String) -> FileFault { FileFault(call: .lock, code: EWOULDBLOCK, name: name) }

    /// The file at a path isn't the one that was put there.
    static func stale(_ name: String) -> FileFault { FileFault(call: .rename, code: ESTALE, name: name) }

    /// Something is there already.
    var isPresence: Bool { code == EEXIST }
    /// True if written data may be lost. Other errors mean only that the file system can't wait for the write.
    var isLoss: Bool { !isUnknown && code != EINVAL && code != EROFS }
    /// The file system knows no second names.
    var isUnknown: Bool { code == EPERM || code == ENOTSUP || code == EOPNOTSUPP || code == ENOSYS || code == EMLINK }
}
