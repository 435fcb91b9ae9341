internal import IDMFiles

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Why a disk cache could not be opened, or could not do what it was asked for. Whatever it was, all other
/// entries are there still, and this one is the whole old one or the whole new one, unless it says otherwise.
public enum DiskCacheError: Error, Sendable, Hashable {
    /// The folder is no place for files: its URL isn't that of a file, or something else stands there, such as a
    /// symbolic link in the place of the partition's folder.
    case notAFolder(String)
    /// A bound is less than one.
    case boundTooSmall(Int)
    /// The disk, or the share of this user, is full.
    case noSpace
    /// This process may not write there, or nobody may.
    case notPermitted
    /// The folder went away while the cache was open. The next write makes it again.
    case folderMissing
    /// This process, or the system, has too many files open.
    case tooManyOpenFiles
    /// The entry would be longer than a gigabyte.
    case tooLong
    /// The entry is longer than all entries may be together. Its key has no entry any more, as what was there is older.
    case longerThanLimit(_ length: Int, limit: Int)
    /// The value can't be encoded: what in it can't, without saying what it is.
    case notEncodable(String)
    /// The system refused a call for another reason: its name, and what `errno` was.
    case refused(call: String, code: Int32)

    init(_ fault: FileFault, in folder: String) {
        self =
            switch fault.code {
            case ENOTDIR: .notAFolder(folder)
            case EEXIST where fault.call == .makeFolder: .notAFolder(folder)
            case _ where fault.isLackOfSpace: .noSpace
            case _ where fault.isRefusal: .notPermitted
            case ENOENT: .folderMissing
            case EMFILE, ENFILE: .tooManyOpenFiles
            default: .refused(call: fault.call.rawValue, code: fault.code)
            }
    }
}

extension DiskCacheError: CustomStringConvertible {
    /// The error in one sentence. It names no key.
    public var description: String {
        switch self {
        case .notAFolder(let path): "A cache can't be kept at \(path)."
        case .boundTooSmall(let bound): "A cache can't be bounded by \(bound)."
        case .noSpace: "There is no space left for the entry."
        case .notPermitted: "The cache's folder may not be written to."
        case .folderMissing: "The cache's folder is gone."
        case .tooManyOpenFiles: "Too many files are open."
        case .tooLong: "The entry is longer than a gigabyte."
        case .longerThanLimit(let length, let limit): "The entry has \(length) bytes, and the cache may have \(limit)."
        case .notEncodable(let reason): "The value can't be encoded: \(reason)"
        case .refused(let call, let code): "The system refused to \(call) (\(code))."
        }
    }
}
