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
