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
    /// Makes a file this descriptor's alone, until it is closed. Fails if it is another one's.
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
    /// Since when the system runs: the same text until it ends. Nil if nobody knows.
    var session: String? { get }
}

enum FileOpening: Sendable {
    case reading
    /// A file that is made if it isn't there, for this user alone.
    case writing
    /// A file that isn't there yet, for whoever new files are for.
    case creating
    case folder
}

struct FileStatus: Sendable, Hashable {
    enum Kind: Sendable { case file, folder, other }

    var kind: Kind
    var size: Int64
    var identity: FileIdentity
    /// Who may read and write it.
    var mode: UInt32
    /// How many names it has.
    var links: UInt64 = 1
    /// When something was written to it last, since 1970: as told by whoever has set that.
    var modified = Duration.zero
    /// When anything of it was changed last, since 1970: its contents, its times or its permissions. No call sets it.
    var changed = Duration.zero
}

/// Which file it is, whatever its name.
struct FileIdentity: Codable, Sendable, Hashable {
    var device: UInt64
    var number: UInt64

    /// Whether it is the file that was written down in the folder that it is in. By its number alone: that of a device
    /// is one for this run of the system, and may be another when the disk is connected again.
    func isStill(_ writtenDown: FileIdentity) -> Bool { number == writtenDown.number }
}

/// A call that the system refused.
struct FileFault: Error, Hashable {
    /// The calls of a ``FileLayer``.
    enum Call: String, Sendable, CaseIterable {
        case open, status, read, write, cut, lock, permit, synchronize, close, rename, link, remove
    }

    let call: Call
    /// What `errno` was.
    let code: Int32
    /// The name of the file, without the folders that it stands in.
    var name = ""
}
