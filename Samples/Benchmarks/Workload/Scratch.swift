import Foundation

/// A folder for one measurement, which goes with whoever holds it.
final class Scratch: Sendable {
    /// Where all of this process stand. To be removed at its end, for some last as long as it does.
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
