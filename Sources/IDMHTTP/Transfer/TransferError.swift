internal import IDMFiles

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Why a transfer has failed that no request has failed in: something about files, or about what came.
///
/// What the network and the server have to do with is thrown as an ``HTTPError``.
public enum TransferError: Error, Sendable, Hashable {
    /// A destination isn't the URL of a file, or has no name, or one that is too long.
    case notAFile(String)
    /// A file stands where the download was to go, and it isn't to be replaced.
    case destinationExists(String)
    /// A folder stands where the download was to go.
    case destinationIsFolder(String)
    /// The folder of the destination isn't there, or has gone.
    case folderMissing(String)
    /// Another download, of this process or of another one, is writing the same part, or another transfer of the center
    /// may go on with it.
    case inUse(String)
    /// Somebody else has removed the part, or put another file in its place, while it was written. The next request
    /// begins anew.
    case partLost(String)
    /// The disk, or the share of this user, is full. What has come is kept.
    case noSpace
    /// This process may not write there, or nobody may.
    case notPermitted(String)
    /// This process, or the system, has too many files open.
    case tooManyOpenFiles
    /// The file is longer than the file system takes.
    case tooLarge
    /// The object has another length than the one that was expected, or announced.
    case size(expected: Int64, found: Int64)
    /// The server has stopped before the end. What has come is kept.
    case incomplete(received: Int64, of: Int64)
    /// The object has another SHA-256 digest than the one that was expected.
    case digest(expected: String, found: String)
    /// The digest to expect isn't one: 64 hexadecimal digits.
    case notADigest(String)
    /// The server has sent a part of an object that it was asked for as a whole.
    case unaskedPart
    /// The server has answered that it has nothing to send (204 or 205).
    case noContent
    /// The request of a transfer that was found on the disk held secrets or a body, and those aren't kept there. Ask
    /// for it anew under its id.
    case requestNeeded
    /// The system refused a call for another reason: its name, and what `errno` was.
    case refused(call: String, code: Int32)

    init(_ fault: FileFault) {
        self =
            switch fault.code {
            case EEXIST: .destinationExists(fault.name)
            case ESTALE: .partLost(fault.name)
            case ENOSPC, EDQUOT: .noSpace
            case EFBIG: .tooLarge
            case EACCES, EPERM, EROFS: .notPermitted(fault.name)
            case ENOENT, ENOTDIR: .folderMissing(fault.name)
            case EISDIR: .destinationIsFolder(fault.name)
            case ELOOP, ENAMETOOLONG: .notAFile(fault.name)
            case EMFILE, ENFILE: .tooManyOpenFiles
            case EWOULDBLOCK where fault.call == .lock: .inUse(fault.name)
            default: .refused(call: fault.call.rawValue, code: fault.code)
            }
    }
}

extension TransferError: CustomStringConvertible {
    /// The error in one sentence.
    public var description: String {
        switch self {
        case .notAFile(let text): "“\(text)” is no place for a file."
        case .destinationExists(let name): "There is a file “\(name)” already."
        case .destinationIsFolder(let name): "“\(name)” is a folder."
        case .folderMissing(let name): "There is no folder for “\(name)”."
        case .inUse(let name): "Another download is writing “\(name)”."
        case .partLost(let name): "Somebody else has removed or replaced “\(name)”."
        case .noSpace: "There is no space left on the disk."
        case .notPermitted(let name): "There is no permission to write “\(name)”."
        case .tooManyOpenFiles: "Too many files are open."
        case .tooLarge: "The file is longer than the file system takes."
        case .size(let expected, let found): "It was to have \(expected) bytes, and had \(found)."
        case .incomplete(let received, let total): "Of \(total) bytes only \(received) have come."
        case .digest(let expected, let found): "Its SHA-256 digest was to be \(expected), and is \(found)."
        case .notADigest(let text): "“\(text)” is no SHA-256 digest."
        case .unaskedPart: "The server has sent a part, where it was asked for the whole."
        case .noContent: "The server has nothing to send."
        case .requestNeeded: "The request held secrets or a body, which aren't kept: it has to be made anew."
        case .refused(let call, let code): "The system refused to \(call) (\(code))."
        }
    }
}
