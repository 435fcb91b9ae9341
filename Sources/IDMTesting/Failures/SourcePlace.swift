/// A place in source code, as test frameworks take it.
///
/// ```swift
/// let location = SourceLocation(
///     fileID: "\(place.fileID)", filePath: "\(place.filePath)", line: place.line, column: place.column)
/// XCTFail(failure.message, file: place.filePath, line: UInt(place.line))
/// ```
public struct SourcePlace: Sendable {
    /// The module and the name of the file.
    public let fileID: StaticString
    /// The path of the file.
    public let filePath: StaticString
    /// The line, from 1.
    public let line: Int
    /// The column, from 1.
    public let column: Int

    /// Makes a place: by default that of the caller.
    public init(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) {
        self.fileID = fileID
        self.filePath = filePath
        self.line = line
        self.column = column
    }
}

extension SourcePlace: Hashable, CustomStringConvertible {
    /// Returns whether both are the same column of the same line of a file.
    public static func == (left: SourcePlace, right: SourcePlace) -> Bool {
        left.line == right.line && left.column == right.column && "\(left.filePath)" == "\(right.filePath)"
    }

    /// Hashes the path, the line and the column.
    public func hash(into hasher: inout Hasher) {
        hasher.combine("\(filePath)")
        hasher.combine(line)
        hasher.combine(column)
    }

    /// The module, the file and the line.
    public var description: String { "\(fileID):\(line)" }
}
