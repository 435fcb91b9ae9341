import Dispatch
import Foundation

/// The simplest cache on disk: no header, no checksum, no limits, no order. Works on a dedicated thread, as a disk cache
/// does.
struct BareFiles: Sendable {
    let folder: String
    private let queue = DispatchQueue(label: "BareFiles")

    init(folder: String) {
        self.folder = folder
    }

    func read(_ key: String) async -> [Int]? {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: readHere(key)) }
        }
    }

    func write(_ value: [Int], _ key: String) async -> Bool {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: writeHere(value, key)) }
        }
    }

    private func readHere(_ key: String) -> [Int]? {
        let file = open(folder + "/" + key, O_RDONLY)
        guard file >= 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 8_192)
        let count = bytes.withUnsafeMutableBytes { Foundation.read(file, $0.baseAddress, $0.count) }
        close(file)
        guard count > 0 else { return nil }
        return try? JSONDecoder().decode([Int].self, from: Data(bytes[..<count]))
    }

    private func writeHere(_ value: [Int], _ key: String) -> Bool {
        guard let data = try? JSONEncoder().encode(value) else { return false }
        let file = open(folder + "/" + key + ".new", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard file >= 0 else { return false }
        let count = data.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
        close(file)
        return count == data.count && rename(folder + "/" + key + ".new", folder + "/" + key) == 0
    }
}
