import Foundation

/// A folder for one measurement, removed with this object.
final class Scratch: Sendable {
    /// The folder of all folders of this process. Removed at the end of the process, because some objects live that long.
    static let all = FileManager.default.temporaryDirectory.appendingPathComponent(
        "idm-benchmarks-\(ProcessInfo.processInfo.processIdentifier)")

    let url = all.appendingPathComponent(UUID().uuidString)

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }
}
