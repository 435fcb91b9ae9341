/// The calls that a disk cache makes of the system, each as small as it can be, so that a test can fail each of them.
protocol FileLayer: Sendable {
    func open(_ place: FilePlace, _ way: FileOpening) throws(FileFault) -> Int32
    /// How long the file is, and what it is.
    func status(_ file: Int32) throws(FileFault) -> FileStatus
    /// The same of what stands at a path, without following a symbolic link.
    func status(at place: FilePlace) throws(FileFault) -> FileStatus
    /// Reads up to the length of the buffer. Returns how much it was; nothing at the end of the file.
    func read(_ file: Int32, _ bytes: UnsafeMutableRawBufferPointer) throws(FileFault) -> Int
    /// Reads up to the length of the buffer, from a place in the file. Returns how much it was; nothing at the end.
    func read(_ file: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileFault) -> Int
    /// Writes up to the length of the buffer. Returns how much it was.
    func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) throws(FileFault) -> Int
    /// Sets when the file was used last, in nanoseconds.
    func touch(_ file: Int32, _ time: Int64) throws(FileFault)
    func synchronize(_ file: Int32) throws(FileFault)
    func close(_ file: Int32) throws(FileFault)
    /// Another descriptor of an open file, which has its lock in common with the first.
    func duplicate(_ file: Int32) throws(FileFault) -> Int32
    /// Waits until no other has locked the file. Where the file system knows of no locks, there is nothing to wait for.
    func lock(_ file: Int32) throws(FileFault)
    /// Locks the file, unless another has. Returns whether it is locked.
    func tryLock(_ file: Int32) throws(FileFault) -> Bool
    func unlock(_ file: Int32) throws(FileFault)
    func rename(_ place: FilePlace, _ target: FilePlace) throws(FileFault)
    /// Removes what isn't a folder. A symbolic link goes itself, not what it leads to.
    func remove(_ place: FilePlace) throws(FileFault)
    func makeFolder(_ place: FilePlace) throws(FileFault)
    /// The names in a folder that is open, in any order.
    func names(in folder: Int32) throws(FileFault) -> [String]
    /// Whether a process runs.
    func isRunning(_ process: Int32) -> Bool
    /// Returns the start time of a process, in any unit. Nil if it can't be found out.
    func start(of process: Int32) -> UInt64?
}

/// A name in a folder that is open. Nothing leads out of that folder, whatever its path leads to by now.
struct FilePlace: Sendable {
    /// The open folder. Nil if the name is a path.
    var folder: Int32?
    var name: String

    /// A path, which may pass through symbolic links. Only for the folder that the user has named, and to find the
    /// cache's own folder in it.
    static func path(_ path: String) -> FilePlace { FilePlace(folder: nil, name: path) }
}

enum FileOpening: Sendable {
    case reading
    /// A file that does not exist yet, for this user alone.
    case creating
    /// A file that is read, and written at its end, for this user alone. Made if it isn't there.
    case appending
    /// The same, without being made.
    case appendingIfThere
    /// A folder of the cache's own. A symbolic link in its place isn't followed.
    case folder
    /// A folder that the user has named. It may be reached through a symbolic link.
    case namedFolder
}

struct FileStatus: Sendable {
    enum Kind: Sendable {
        case file
        case folder
        case other
    }

    var kind: Kind
    /// Which file it is, among those that are there at the same time.
    var identity: UInt64
    /// How many names it has.
    var links: Int
    var size: Int
    /// When it was used last, in nanoseconds.
    var time: Int64
}
