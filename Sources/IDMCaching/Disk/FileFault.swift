#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A call that the system refused.
struct FileFault: Error, Hashable {
    /// The calls of a ``FileLayer``.
    enum Call: String, Sendable {
        case open, status, read, write, touch, synchronize, close, duplicate, lock, unlock, rename, remove
        case makeFolder, names
    }

    let call: Call
    /// What `errno` was.
    let code: Int32
}

extension FileFault {
    /// What is there is no file.
    static var obstacle: FileFault { FileFault(call: .open, code: ELOOP) }

    /// A file is missing.
    static var absence: FileFault { FileFault(call: .open, code: ENOENT) }
    /// A link, or something else that isn't followed, stands in the place of a folder of the cache's own.
    static var noFolder: FileFault { FileFault(call: .makeFolder, code: EEXIST) }

    /// Nothing is there.
    var isAbsence: Bool { code == ENOENT || code == ENOTDIR }
    /// Something is there already.
    var isPresence: Bool { code == EEXIST }
    /// Something is there that can't be what it should be: a folder, a link, a socket.
    var isObstacle: Bool { code == EISDIR || isLink || isSocket }
    /// What should be a folder is something else, or a part of its path is.
    var isWrongKind: Bool { code == ENOTDIR || isLink }
    /// This process may not do it, or nobody may.
    var isRefusal: Bool { code == EACCES || code == EPERM || code == EROFS }
    /// The disk, or the share of this user, is full.
    var isLackOfSpace: Bool { code == ENOSPC || code == EDQUOT }
    /// Another has locked the file.
    var isLocked: Bool { code == EWOULDBLOCK || code == EAGAIN }
    /// The file system knows of no locks, or has no more of them.
    var isLackOfLocks: Bool { code == EOPNOTSUPP || code == ENOTSUP || code == ENOLCK || code == ENOSYS }
    /// A symbolic link is there, which isn't followed.
    var isLink: Bool { code == ELOOP || code == EMLINK }
    /// A socket is there, which can't be opened.
    var isSocket: Bool { code == ENXIO || code == EOPNOTSUPP }
}
