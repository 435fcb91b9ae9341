/// A small file behind a line that names its format, its version and the SHA-256 digest of the rest:
/// `idm-part 1 9f86d0…`, a line feed, and the contents.
///
/// A flipped bit anywhere, a missing end or another version makes the whole file unreadable.
package struct ChecksummedText: Sendable {
    private let format: String
    private let version: Int

    /// - Parameter format: The format of the file: the first word of its first line.
    package init(format: String, version: Int) {
        self.format = format
        self.version = version
    }

    /// The file with these contents.
    package func sealed(_ contents: some Collection<UInt8>) -> [UInt8] {
        Array("\(line(for: contents))\n".utf8) + contents
    }

    /// The contents of a file. Nil if the file is damaged, or of another format or version.
    package func opened(_ file: some Collection<UInt8>) -> [UInt8]? {
        guard let end = file.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let contents = file[file.index(after: end)...]
        return file[..<end].elementsEqual(line(for: contents).utf8) ? Array(contents) : nil
    }

    private func line(for contents: some Sequence<UInt8>) -> String {
        "\(format) \(version) \(SHA256.hex(of: contents))"
    }
}
