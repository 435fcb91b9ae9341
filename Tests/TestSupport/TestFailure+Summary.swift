package import IDMTesting

extension TestFailure {
    /// The line and the message, or a note that the place isn't a place in code.
    package var summary: String {
        let (fileID, path) = ("\(place.fileID)".split(separator: "/"), "\(place.filePath)")
        let isPlace = path.hasPrefix("/") && fileID.count == 2 && path.hasSuffix("/\(fileID[1])") && place.column > 0
        return isPlace ? "\(place.line): \(message)" : "no place: \(place.fileID), \(path), \(place.column)"
    }
}
