#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// An error of a system call.
package struct FileFault: Error, Hashable {
    /// The calls of a ``FileLayer``.
    package enum Call: String, Sendable, CaseIterable {
        case open, status, read, write, cut, touch, permit, synchronize, close, duplicate, lock, unlock, rename, link
        case remove, makeFolder, names
    }

    package let call: Call
    /// The value of `errno`.
    package let code: Int32
    /// The name of the file, without its folder. Empty for a name in an open folder.
    package let name: String

    package init(call: Call, code: Int32, name: String = "") {
        (self.call, self.code, self.name) = (call, code, name)
    }
}

extension FileFault {
    /// A folder stands where a file was to go.
    package static func folder(_ name: String) -> FileFault { FileFault(call: .rename, code: EISDIR, name: name) }
    /// Something that isn't a file stands where a file was to be.
    package static func notAFile(_ name: String = "") -> FileFault { FileFault(call: .open, code: ELOOP, name: name) }
    /// Something stands where a file was to go.
    package static func presence(_ name: String) -> FileFault { FileFault(call: .link, code: EEXIST, name: name) }
    /// The file is in use by another writer.
    package static func use(_ name: String) -> FileFault { FileFault(call: .lock, code: EWOULDBLOCK, name: name) }
    /// The file at a path isn't the one that was put there.
    package static func stale(_ name: String) -> FileFault { FileFault(call: .rename, code: ESTALE, name: name) }
    /// A file is missing.
    package static var absence: FileFault { FileFault(call: .open, code: ENOENT) }
    /// A link, or something else that isn't followed, stands in the place of a folder.
    package static var noFolder: FileFault { FileFault(call: .makeFolder, code: EEXIST) }

    /// True if nothing is there.
    package var isAbsence: Bool { code == ENOENT || code == ENOTDIR }
    /// True if something is there already.
    package var isPresence: Bool { code == EEXIST }
    /// True if something is there that can't be the file: a folder, a link, a socket.
    package var isObstacle: Bool { code == EISDIR || isLink || isSocket }
    /// True if a socket is there, which can't be opened.
    package var isSocket: Bool { code == ENXIO || code == EOPNOTSUPP }
    /// True if what should be a folder is something else, or a part of its path is.
    package var isWrongKind: Bool { code == ENOTDIR || isLink }
    /// True if a symbolic link is there, which isn't followed.
    package var isLink: Bool { code == ELOOP || code == EMLINK }
    /// True if permissions forbid the call.
    package var isRefusal: Bool { code == EACCES || code == EPERM || code == EROFS }
    /// True if the disk, or the quota of this user, is full.
    package var isLackOfSpace: Bool { code == ENOSPC || code == EDQUOT }
    /// True if another descriptor holds the lock.
    package var isLocked: Bool { code == EWOULDBLOCK || code == EAGAIN }
    /// True if the file system has no locks, or no more of them.
    package var isLackOfLocks: Bool { code == EOPNOTSUPP || code == ENOTSUP || code == ENOLCK || code == ENOSYS }
    /// True if written data may be lost. Other errors mean only that the file system can't wait for the write.
    package var isLoss: Bool { !isUnknown && code != EINVAL && code != EROFS }
    /// True if the file system doesn't know the call, such as hard links.
    package var isUnknown: Bool {
        code == EPERM || code == ENOTSUP || code == EOPNOTSUPP || code == ENOSYS || code == EMLINK
    }
}
