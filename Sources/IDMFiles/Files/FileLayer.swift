/// The system calls on files, each as small as it can be, so that a test can fail each of them.
package protocol FileLayer: Sendable {
    func open(_ place: FilePlace, _ way: FileOpening) throws(FileFault) -> Int32
    func status(_ file: Int32) throws(FileFault) -> FileStatus
    /// Returns the status of what is at a place, without following a symbolic link.
    func status(at place: FilePlace) throws(FileFault) -> FileStatus
    /// Reads up to the length of the buffer, and returns the count: 0 at the end of the file.
    ///
    /// - Parameter offset: The position in the file. Nil for the current position.
    func read(_ file: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int64?) throws(FileFault) -> Int
    /// Writes up to the length of the buffer, and returns the count.
    ///
    /// - Parameter offset: The position in the file. Nil for the current position.
    func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64?) throws(FileFault) -> Int
    func cut(_ file: Int32, to length: Int64) throws(FileFault)
    /// Sets the time of the last use, in nanoseconds.
    func touch(_ file: Int32, _ time: Int64) throws(FileFault)
    /// Sets the permissions.
    func permit(_ file: Int32, _ mode: UInt32) throws(FileFault)
    func synchronize(_ file: Int32) throws(FileFault)
    func close(_ file: Int32) throws(FileFault)
    /// Returns another descriptor of an open file, which shares the lock of the first.
    func duplicate(_ file: Int32) throws(FileFault) -> Int32
    /// Locks a file for its descriptors.
    ///
    /// - Parameter waits: False to fail if another descriptor holds the lock.
    func lock(_ file: Int32, waits: Bool) throws(FileFault)
    func unlock(_ file: Int32) throws(FileFault)
    /// Moves a file, and replaces what is at the target.
    func rename(_ place: FilePlace, _ target: FilePlace) throws(FileFault)
    /// Gives a file a second name. Fails if something has that name.
    func link(_ place: FilePlace, _ target: FilePlace) throws(FileFault)
    /// Removes anything but a folder. A symbolic link is removed itself.
    func remove(_ place: FilePlace) throws(FileFault)
    func makeFolder(_ place: FilePlace) throws(FileFault)
    /// Returns the names in an open folder, in any order.
    func names(in folder: Int32) throws(FileFault) -> [String]
    /// The start of the system: the same text until the next start. Nil if it isn't known.
    var session: String? { get }
}

/// A path, or a name in an open folder. Such a name never leads out of that folder, even if the folder was moved.
package struct FilePlace: Sendable {
    /// The open folder. Nil if the name is a path.
    package let folder: Int32?
    package let name: String

    package init(folder: Int32, name: String) { (self.folder, self.name) = (folder, name) }

    private init(path: String) { (folder, name) = (nil, path) }

    /// A path, whose folders may be symbolic links.
    package static func path(_ path: String) -> FilePlace { FilePlace(path: path) }
}

package enum FileOpening: Sendable {
    case reading
    /// A file to read and write, for this user alone. Created if it isn't there.
    case writing
    /// A new file for this user alone.
    case creating
    /// A new file with the default permissions.
    case creatingForAll
    /// A file to read, and to write at its end, for this user alone. Created if it isn't there.
    case appending
    /// The same, without being created.
    case appendingIfThere
    /// A folder. A symbolic link in its place isn't followed.
    case folder
    /// A folder that may be reached through a symbolic link.
    case namedFolder
}

package struct FileStatus: Sendable, Hashable {
    package enum Kind: Sendable { case file, folder, other }

    package var kind: Kind
    package var size: Int64
    package var identity: FileIdentity
    /// The permissions.
    package var mode: UInt32
    /// The number of hard links.
    package var links: UInt64
    /// The time of the last write or ``FileLayer/touch(_:_:)``, since 1970. Programs can set it to any value.
    package var modified: Duration
    /// The time of the last change of contents, times or permissions, since 1970. No call sets it.
    package var changed: Duration

    /// The size as an `Int`.
    package var length: Int { Int(clamping: size) }

    package init(
        kind: Kind, size: Int64, identity: FileIdentity, mode: UInt32, links: UInt64 = 1, modified: Duration = .zero,
        changed: Duration = .zero
    ) {
        (self.kind, self.size, self.identity, self.mode) = (kind, size, identity, mode)
        (self.links, self.modified, self.changed) = (links, modified, changed)
    }
}

/// The identity of a file, whatever its name.
package struct FileIdentity: Codable, Sendable, Hashable {
    package var device: UInt64
    package var number: UInt64

    package init(device: UInt64, number: UInt64) { (self.device, self.number) = (device, number) }

    /// Returns true if the file is the one that a record in the same folder describes. Compares inode numbers only: the
    /// device number can change when the disk is connected again.
    package func isStill(_ writtenDown: FileIdentity) -> Bool { number == writtenDown.number }
}

/// Paths, byte by byte: a slash divides them, even before a combining mark.
extension String {
    /// The names of the folders that a path leads through, and of its target.
    package var namesInPath: [String] { utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) } }

    /// The last of the names. Empty without one.
    package var lastName: String { namesInPath.last ?? "" }

    /// The path without its last name, with a slash at its end.
    package var folderOfPath: String { String(Substring(utf8.dropLast(lastName.utf8.count))) }

    /// True for an absolute path.
    package var isWholePath: Bool { utf8.first == UInt8(ascii: "/") }
}
