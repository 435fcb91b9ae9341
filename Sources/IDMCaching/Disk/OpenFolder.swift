internal import IDMFiles

/// A folder of the cache's own that is open. Files are found, made and removed in this folder alone, whatever its path
/// leads to by now.
final class OpenFolder: Sendable {
    private let files: any FileLayer
    private let descriptor: Int32

    private init(_ files: any FileLayer, _ descriptor: Int32) {
        self.files = files
        self.descriptor = descriptor
    }

    deinit { try? files.close(descriptor) }

    /// Opens a folder, without following a link in its place. Nil if nothing is there.
    ///
    /// - Throws: ``FileFault/noFolder`` if something else is there.
    static func open(_ place: FilePlace, _ files: any FileLayer) throws(FileFault) -> OpenFolder? {
        do throws(FileFault) {
            return OpenFolder(files, try files.open(place, .folder))
        } catch {
            guard error.isWrongKind else {
                if error.isAbsence { return nil }
                throw error
            }
        }
        // The system says the same of a link in this place and of a file further up.
        guard try files.statusIfThere(place) != nil else { return nil }
        throw .noFolder
    }

    /// Opens a folder in this one. Nil if nothing is there.
    ///
    /// - Throws: ``FileFault/noFolder`` if something else is there.
    func folder(_ name: String) throws(FileFault) -> OpenFolder? {
        try Self.open(place(name), files)
    }

    private func place(_ name: String) -> FilePlace { FilePlace(folder: descriptor, name: name) }

    func open(_ name: String, _ way: FileOpening) throws(FileFault) -> Int32 {
        try files.open(place(name), way)
    }

    func status(of name: String) throws(FileFault) -> FileStatus {
        try files.status(at: place(name))
    }

    func statusIfThere(of name: String) throws(FileFault) -> FileStatus? { try files.statusIfThere(place(name)) }

    func rename(_ name: String, to folder: OpenFolder, as target: String) throws(FileFault) {
        try files.rename(place(name), folder.place(target))
    }

    func remove(_ name: String) throws(FileFault) {
        try files.remove(place(name))
    }

    func removeIfThere(_ name: String) throws(FileFault) { try files.removeIfThere(place(name)) }

    /// Makes a folder in this one, unless something is there.
    func makeFolder(_ name: String) throws(FileFault) {
        do throws(FileFault) {
            try files.makeFolder(place(name))
        } catch {
            if !error.isPresence { throw error }
        }
    }

    /// The names in this folder, in any order. None if it was removed.
    func names() throws(FileFault) -> [String] {
        do throws(FileFault) {
            return try files.names(in: descriptor)
        } catch {
            if error.isAbsence { return [] }
            throw error
        }
    }

    func synchronize() throws(FileFault) {
        try files.synchronize(descriptor)
    }
}
