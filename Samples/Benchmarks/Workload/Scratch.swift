import Foundation

/// A folder for one measurement, which goes with whoever holds it.
final class Scratch: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("idm-benchmarks-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }
}
