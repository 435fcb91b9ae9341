/// The calls that a transfer makes of the system, each as small as it can be, so that a test can fail each of them.
protocol FileLayer: Sendable {
    func open(_ path: String, _ way: FileOpening) throws(FileFault) -> Int32
    func status(_ file: Int32) throws(FileFault) -> FileStatus
    /// The status of what stands at a path, without following a symbolic link.
    func status(at path: String) throws(FileFault) -> FileStatus
    /// Reads up to the length of the buffer. Returns how much it was; nothing at the end of the file.
    func read(_ file: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileFault) -> Int
    /// Writes up to the length of the buffer. Returns how much it was.
    func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileFault) -> Int
    func cut(_ file: Int32, to length: Int64) throws(FileFault)
    /// Locks a file for this descriptor until it is closed. Fails if another descriptor holds the lock.
    func lock(_ file: Int32) throws(FileFault)
    /// Says who may read and write a file.
    func permit(_ file: Int32, _ mode: UInt32) throws(FileFault)
    func synchronize(_ file: Int32) throws(FileFault)
    func close(_ file: Int32) throws(FileFault)
    /// Moves a file, and replaces what stands there.
    func rename(_ path: String, _ target: String) throws(FileFault)
    /// Gives a file a second name. Fails if there is something of that name.
    func link(_ path: String, _ target: String) throws(FileFault)
    func remove(_ path: String) throws(FileFault)
    /// The start of the system: the same text until the next start. Nil if it isn't known.
    var session: String? { get }
}

enum FileOpening: Sendable {
    case reading
    /// A file that is made if it isn't there, for this user alone.
    case writing
    /// A new file with the default permissions.
    case creating
    case folder
}

struct FileStatus: Sendable, Hashable {
    enum Kind: Sendable { case file, folder, other }

    var kind: Kind
    var size: Int64
    var identity: FileIdentity
    /// The permissions.
    var mode: UInt32
    /// The number of hard links.
    var links: UInt64 = 1
    /// The time of the last write, since 1970. Programs can set it to any value.
    var modified = Duration.zero
    /// The time of the last change of contents, times or permissions, since 1970. No call sets it.
    var changed = Duration.zero
}

/// Which file it is, whatever its name.
struct FileIdentity: Codable, Sendable, Hashable {
    var device: UInt64
    var number: UInt64

    /// Returns true if the file is the one that a record in the same folder describes. Compares inode numbers only: the
    /// device number can change when the disk is connected again.
    func isStill(_ writtenDown: FileIdentity) -> Bool { number == writtenDown.number }
}

/// A call that the system refused.
struct FileFault: Error, Hashable {
    /// The calls of a ``FileLayer``.
    enum Call: String, Sendable, CaseIterable {
        case open, status, read, write, cut, lock, permit, synchronize, close, rename, link, remove
    }

    let call: Call
    /// The value of `errno`.
    let code: Int32
    /// The name of the file, without the folders that it stands in.
    var name = ""
}

/// Paths, byte by byte: a slash divides them, whatever is joined to it. A name may begin with a mark that is drawn on
/// top of what stands before it.
extension String {
    /// The names of the folders that a path leads through, and of what it leads to.
    var namesInPath: [String] { utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) } }

    /// The last of the names. Empty without one.
    var lastName: String { namesInPath.last ?? "" }

    /// The path without its last name, with a slash at its end.
    var folderOfPath: String { String(Substring(utf8.dropLast(lastName.utf8.count))) }

    /// True for an absolute path.
    var isWholePath: Bool { utf8.first == UInt8(ascii: "/") }
}
