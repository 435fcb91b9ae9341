package import IDMTesting

extension TestFailure {
    /// The line that the failure points at, and the message. Nothing of that, if the other parts of the place are none
    /// of a line of code.
    package var summary: String {
        let (fileID, path) = ("\(place.fileID)".split(separator: "/"), "\(place.filePath)")
        let isPlace = path.hasPrefix("/") && fileID.count == 2 && path.hasSuffix("/\(fileID[1])") && place.column > 0
        return isPlace ? "\(place.line): \(message)" : "no place: \(place.fileID), \(path), \(place.column)"
    }
}
