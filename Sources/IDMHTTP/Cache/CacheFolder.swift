internal import Dispatch
internal import Foundation
internal import IDMCore
internal import IDMFiles

/// The files of a cache: one file per address, readable by this user alone and named by a digest. It contains no
/// response to a request with credentials.
///
/// A file that is damaged, or was written by another version, is removed and counts as missing. Files with other names
/// are never touched. Each operation opens the folder and works in that one, even if it is moved. Links in it are
/// neither followed nor written through.
final class CacheFolder: Sendable {
    private struct Index {
        var isRead = false
        /// The bytes of each file, and when it was used last: first those that were there, in the order of their age.
        var files: [String: (bytes: Int, lastUse: UInt64)] = [:]
        var uses: UInt64 = 0
        /// The files that couldn't be removed when they became invalid. They aren't read. If there are very many, no
        /// file is.
        var invalid: Set<String> = []

        func canRead(_ name: String) -> Bool {
            files[name] != nil && !invalid.contains(name) && invalid.count < 1_000
        }
    }

    private let path: String
    private let byteLimit: Int
    private let files: any FileLayer
    private let index = Locked(Index())
    private let queue = DispatchQueue(label: "IDMHTTP.cache")

    private static let format = ChecksummedText(format: "idm-http-cache", version: 1)
    private static let ending = ".response"

    init(_ folder: URL, byteLimit: Int, files: any FileLayer = POSIXFiles()) {
        path = folder.standardizedFileURL.path
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
        let name = Self.name(of: address)
        guard let folder = try? open() else { return [] }
        defer { try? files.close(folder) }
        readIndex(folder)
        guard index.withLock({ $0.canRead(name) }),
            let bytes = files.contents(of: FilePlace(folder: folder, name: name), limit: mostOfFile)
        else { return [] }
        guard let responses = Self.decoded(bytes, address: address) else {
            remove(name, from: folder)
            return []
        }
        index.withLock { index in
            index.uses += 1
            index.files[name]?.lastUse = index.uses
        }
        return responses
    }

    private func write(_ responses: [StoredResponse], _ address: String) {
        let name = Self.name(of: address)
        let kept = responses.filter(\.isForDisk)
        let opened: Int32?
        do {
            opened = try kept.isEmpty ? open() : openOrMake()
        } catch {
            return forget(name)
        }
        guard let folder = opened else { return }
        defer { try? files.close(folder) }
        readIndex(folder)
        let (place, way) = (FilePlace(folder: folder, name: name), FilePlace(folder: folder, name: name + ".new"))
        guard !kept.isEmpty, let bytes = Self.encoded(kept, address: address), bytes.count <= mostOfFile else {
            return remove(name, from: folder)
        }
        guard (try? files.replace(place, by: way, with: bytes, synchronizing: false)) != nil else {
            try? files.removeIfThere(way)
            return remove(name, from: folder)
        }
        let old = index.withLock { index -> [String] in
            index.uses += 1
            index.files[name] = (bytes.count, index.uses)
            index.invalid.remove(name)
            var sum = index.files.values.reduce(0) { $0 + $1.bytes }
            return index.files.sorted { $0.value.lastUse < $1.value.lastUse }.prefix { file in
                guard sum > byteLimit else { return false }
                sum -= file.value.bytes
                return true
            }.map(\.key)
        }
        for name in old { remove(name, from: folder) }
    }

    private func remove(_ name: String, from folder: Int32) {
        guard (try? files.removeIfThere(FilePlace(folder: folder, name: name))) != nil else { return forget(name) }
        noteRemoval(of: name)
    }

    private func noteRemoval(of name: String) {
        index.withLock { index in
            index.files[name] = nil
            index.invalid.remove(name)
        }
    }

    /// Makes a file that can't be removed one that isn't read.
    private func forget(_ name: String) { index.withLock { _ = $0.invalid.insert(name) } }

    private func removeFiles() throws {
        // Whatever can't be removed isn't read.
        index.withLock { index in
            index.isRead = true
            index.invalid.formUnion(index.files.keys)
        }
        guard let folder = try open() else { return index.withLock { ($0.files, $0.invalid) = ([:], []) } }
        defer { try? files.close(folder) }
        var first: (any Error)?
        for name in try files.names(in: folder) where Self.isOurs(name) {
            do {
                try files.removeIfThere(FilePlace(folder: folder, name: name))
                noteRemoval(of: name)
            } catch {
                first = first ?? error
            }
        }
        if let first { throw first }
    }

    private func readIndex(_ folder: Int32) {
        guard !index.withLock({ $0.isRead }), let names = try? files.names(in: folder) else { return }
        // What a process was writing when it ended.
        for name in names where Self.isOurs(name) && name.hasSuffix(".new") {
            try? files.removeIfThere(FilePlace(folder: folder, name: name))
        }
        let found = names.filter { Self.isOurs($0) && !$0.hasSuffix(".new") }.compactMap { name in
            (try? files.status(at: FilePlace(folder: folder, name: name))).map { (name, $0.length, $0.modified) }
        }
        index.withLock { index in
            index.isRead = true
            for (name, bytes, _) in found.sorted(by: { $0.2 < $1.2 }) {
                index.uses += 1
                index.files[name] = (bytes, index.uses)
            }
        }
    }

    /// Opens the folder, whose path may be a link. Nil if it isn't there.
    private func open() throws(FileFault) -> Int32? {
        do throws(FileFault) {
            return try files.open(path, .namedFolder)
        } catch {
            if error.isAbsence { return nil }
            throw error
        }
    }

    private func openOrMake() throws -> Int32? {
        if let folder = try open() { return folder }
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return try open()
    }

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
