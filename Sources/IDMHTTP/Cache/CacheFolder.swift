internal import Dispatch
internal import Foundation
internal import IDMCore
internal import IDMFiles

/// The files of a cache: one file per address, readable by this user alone and named by a digest. It contains no
/// response to a request with credentials.
///
/// A file that is damaged, or was written by another version, is removed and counts as missing. Files with other names
/// are never touched. Links are neither followed nor written through.
final class CacheFolder: Sendable {
    private struct Index {
        var isRead = false
        /// The bytes of each file, and when it was used last: first those that were there, in the order of their age.
        var files: [String: (bytes: Int, lastUse: UInt64)] = [:]
        var uses: UInt64 = 0
    }

    private let folder: String
    private let byteLimit: Int
    private let files: any FileLayer
    private let index = Locked(Index())
    private let queue = DispatchQueue(label: "IDMHTTP.cache")

    private static let format = ChecksummedText(format: "idm-http-cache", version: 1)
    private static let ending = ".response"

    init(_ folder: URL, byteLimit: Int, files: any FileLayer = POSIXFiles()) {
        self.folder = folder.standardizedFileURL.path
        self.byteLimit = max(byteLimit, 0)
        self.files = files
    }

    private var mostOfFile: Int { byteLimit / 4 }

    func responses(of address: String) async -> [StoredResponse] {
        await queue.perform { self.read(address) }
    }

    /// Replaces all responses of an address, later and in the order of the calls.
    func replace(_ responses: [StoredResponse], of address: String) {
        queue.async { self.write(responses, address) }
    }

    /// Removes everything. Throws the error of the first file that can't be removed.
    func removeAll() async throws {
        try await queue.perform { Result { try self.removeFiles() } }.get()
    }

    func settle() async { await queue.perform {} }

    // MARK: On the queue

    private func read(_ address: String) -> [StoredResponse] {
        readIndex()
        let name = Self.name(of: address)
        guard index.withLock({ $0.files[name] != nil }), let bytes = files.contents(of: path(name), limit: mostOfFile)
        else { return [] }
        guard let responses = Self.decoded(bytes, address: address) else {
            remove(name)
            return []
        }
        index.withLock { index in
            index.uses += 1
            index.files[name]?.lastUse = index.uses
        }
        return responses
    }

    private func write(_ responses: [StoredResponse], _ address: String) {
        readIndex()
        let name = Self.name(of: address)
        let kept = responses.filter(\.isForDisk)
        guard !kept.isEmpty, let bytes = Self.encoded(kept, address: address), bytes.count <= mostOfFile,
            (try? FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])) != nil,
            (try? files.replace(path(name), by: path(name) + ".new", with: bytes, synchronizing: false)) != nil
        else { return remove(name) }
        let old = index.withLock { index -> [String] in
            index.uses += 1
            index.files[name] = (bytes.count, index.uses)
            var sum = index.files.values.reduce(0) { $0 + $1.bytes }
            return index.files.sorted { $0.value.lastUse < $1.value.lastUse }.prefix { file in
                guard sum > byteLimit else { return false }
                sum -= file.value.bytes
                return true
            }.map(\.key)
        }
        old.forEach(remove)
    }

    private func remove(_ name: String) {
        guard (try? files.removeIfThere(path(name))) != nil else { return }
        index.withLock { _ = $0.files.removeValue(forKey: name) }
    }

    private func removeFiles() throws {
        index.withLock { $0 = Index() }
        var first: (any Error)?
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where Self.isOurs(name) {
            do {
                try files.removeIfThere(path(name))
            } catch {
                first = first ?? error
            }
        }
        if let first { throw first }
    }

    private func readIndex() {
        guard !index.withLock({ $0.isRead }) else { return }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        // What a process was writing when it ended.
        for name in names where Self.isOurs(name) && name.hasSuffix(".new") { try? files.removeIfThere(path(name)) }
        let found = names.filter { Self.isOurs($0) && !$0.hasSuffix(".new") }.compactMap { name in
            (try? files.status(at: path(name))).map { (name, Int($0.size), $0.modified) }
        }
        index.withLock { index in
            index.isRead = true
            for (name, bytes, _) in found.sorted(by: { $0.2 < $1.2 }) {
                index.uses += 1
                index.files[name] = (bytes, index.uses)
            }
        }
    }

    private func path(_ name: String) -> String { "\(folder)/\(name)" }

    private static func name(of address: String) -> String { SHA256.hex(of: address.utf8) + ending }

    private static func isOurs(_ name: String) -> Bool {
        let stem = name.hasSuffix(".new") ? name.dropLast(4) : name[...]
        return stem.hasSuffix(ending) && stem.utf8.count == 64 + ending.utf8.count
            && stem.dropLast(ending.count).consists(of: .hexDigits)
    }

    // MARK: Format

    private struct File: Codable {
        /// A digest may stand for another address by chance or by design, so that the address is there as well.
        let address: String
        let heads: [StoredResponse.Head]
    }

    private static func encoded(_ responses: [StoredResponse], address: String) -> [UInt8]? {
        guard let head = try? JSONEncoder().encode(File(address: address, heads: responses.map(\.head))) else {
            return nil
        }
        return format.sealed(responses.reduce(into: head + Data("\n".utf8)) { $0 += $1.body })
    }

    private static func decoded(_ bytes: [UInt8], address: String) -> [StoredResponse]? {
        guard let body = format.opened(bytes), let end = body.firstIndex(of: UInt8(ascii: "\n")),
            let file = try? JSONDecoder().decode(File.self, from: Data(body[..<end])), file.address == address
        else { return nil }
        var rest = body[(end + 1)...]
        var responses: [StoredResponse] = []
        for head in file.heads {
            guard head.length >= 0, head.length <= rest.count else { return nil }
            responses.append(StoredResponse(head, body: Data(rest.prefix(head.length))))
            rest = rest.dropFirst(head.length)
        }
        return rest.isEmpty ? responses : nil
    }
}
