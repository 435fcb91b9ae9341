import Foundation
import IDMFiles
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

extension HTTPCacheTests {
    /// What stands in the cache's folder: a link to a file elsewhere, in the place of an entry or of one that is being
    /// written.
    enum Link: CaseIterable, Sendable {
        case entry, writing, hardEntry, hardWriting

        func make(in folder: URL, _ name: String, to victim: URL) throws {
            let link = folder.appendingPathComponent(self == .entry || self == .hardEntry ? name : name + ".new")
            try? FileManager.default.removeItem(at: link)
            switch self {
            case .entry, .writing: try FileManager.default.createSymbolicLink(at: link, withDestinationURL: victim)
            case .hardEntry, .hardWriting: try FileManager.default.linkItem(at: victim, to: link)
            }
        }
    }

    enum FolderWork: CaseIterable, Sendable {
        case read, readDamaged, write, writeNothing, evict, invalidate, removeAll, sweep
    }

    @Test("links in the folder are neither followed nor written through", arguments: Link.allCases)
    func links(link: Link) async throws {
        for work in FolderWork.allCases {
            let (folder, outside) = (try TemporaryFolder(), try TemporaryFolder())
            let address = CacheVersion.request.address
            let name = SHA256.hex(of: address.utf8) + ".response"
            let victim = outside.url.appendingPathComponent("victim")
            let opened = CacheFolder(folder.url, byteLimit: 20_000)
            opened.replace([CacheVersion.old], of: address)
            await opened.settle()
            try FileManager.default.copyItem(at: folder.url.appendingPathComponent(name), to: victim)
            if work == .readDamaged { try Data("damaged".utf8).write(to: victim) }
            // As the file of a process of this user that has ended.
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: victim.path)
            let before = try victim.fingerprint
            try link.make(in: folder.url, name, to: victim)

            switch work {
            case .read, .readDamaged: _ = await opened.responses(of: address)
            case .write: opened.replace([CacheVersion.new], of: address)
            case .writeNothing: opened.replace([CacheVersion.new, .init(length: 6_000)], of: address)
            case .evict: for other in 0..<8 { opened.replace([.init(length: 3_000)], of: "\(other)") }
            case .invalidate: opened.replace([], of: address)
            case .removeAll: try await opened.removeAll()
            case .sweep: _ = await CacheFolder(folder.url, byteLimit: 20_000).responses(of: "other")
            }
            await opened.settle()

            #expect(try victim.fingerprint == before, "\(work)")
        }
    }

    @Test("a link in place of the opened folder is not followed")
    func movedFolder() async throws {
        for call in FileFault.Call.allCases where call != .open {
            let (scratch, outside, files) = (try TemporaryFolder(), try TemporaryFolder(), FaultyFiles())
            let (path, moved, target) = (scratch.path + "/cache", scratch.path + "/moved", outside.path)
            let folder = CacheFolder(URL(fileURLWithPath: path), byteLimit: 20_000, files: files)
            folder.replace([CacheVersion.old], of: "address")
            await folder.settle()
            files.before(call) {
                _ = rename(path, moved)
                _ = symlink(target, path)
            }

            folder.replace([CacheVersion.new], of: "address")
            await folder.settle()

            #expect(try outside.names().isEmpty, "\(call)")
        }
    }
}

/// Versions of one response.
enum CacheVersion {
    static let request = CacheRequest(
        url: URL(fileURLWithPath: "/a"), headers: [:], secretNames: [], pathParameters: [:], secrets: .standard)
    static let (old, new) = (StoredResponse("old"), StoredResponse("new"))
}

extension StoredResponse {
    init(_ text: String, isForDisk: Bool = true) {
        self.init(
            status: 200, headers: ["Cache-Control": "max-age=60"], body: Data(text.utf8), requestTime: CacheCase.start,
            responseTime: CacheCase.start, selected: [:], credentials: nil, isForDisk: isForDisk)
    }

    init(length: Int) { self.init(String(repeating: "x", count: length)) }

    var text: String { String(decoding: body, as: UTF8.self) }
}

extension URL {
    /// The bytes, the permissions and the time of the last write of a file.
    fileprivate var fingerprint: [String] {
        get throws {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            return [
                SHA256.hex(of: try Data(contentsOf: self)), "\(attributes[.posixPermissions] ?? "")",
                "\(attributes[.modificationDate] ?? "")",
            ]
        }
    }
}
