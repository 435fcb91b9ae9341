internal import Dispatch
internal import Foundation
internal import IDMCore
internal import IDMFiles

/// The records of a center: one file each, for this user alone, on a thread that may wait for a disk.
final class TransferArchive: Sendable {
    private let folder: String
    private let files: any FileLayer
    private let queue = DispatchQueue(label: "IDMHTTP.transfers")

    private static let ending = ".transfer"

    init(_ folder: URL, files: any FileLayer = POSIXFiles()) throws(TransferError) {
        let path = folder.standardizedFileURL.path
        guard folder.isFileURL, path.isWholePath, !path.utf8.contains(0) else {
            throw .notAFile(folder.lastPathComponent.escapedForDescription())
        }
        self.folder = path
        self.files = files
    }

    /// All records that can be read, in the order of their ids.
    func records() async throws(TransferError) -> [TransferRecord] {
        let result: Result<[TransferRecord], TransferError> = await queue.perform { [self] in
            do {
                try FileManager.default.createDirectory(
                    atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                let names = try FileManager.default.contentsOfDirectory(atPath: folder)
                // What a process was writing when it ended.
                for name in names where name.hasSuffix(Self.ending + ".new") {
                    try? files.removeIfThere("\(folder)/\(name)")
                }
                let records = names.filter { $0.hasSuffix(Self.ending) }.compactMap { name in
                    let path = "\(folder)/\(name)"
                    // One that stands elsewhere would never be erased.
                    return files.contents(of: path).flatMap { TransferRecord(Data($0)) }
                        .flatMap { self.path(of: $0.id) == path ? $0 : nil }?
                        .found(in: folder, presence: presence)
                }
                return .success(records.sorted { ($0.turn, $0.id) < ($1.turn, $1.id) })
            } catch {
                return .failure(.notPermitted(folder.namesInPath.last ?? "/"))
            }
        }
        return try result.get()
    }

    /// What there is of a download where it may be.
    private func presence(of download: ServiceDownload, _ landing: TransferRecord.Landing?) -> TransferRecord.Presence {
        // What its object is called is enough, and without that it has left nothing.
        let address = URL(fileURLWithPath: download.object ?? "/")
        guard let place = try? DownloadPlace(download, from: address) else { return .nothing }
        let disk = PartFiles(place: place, files: files)
        let destinations = place.destinations(
            suggested: landing?.suggestedName, isNumbered: download.existing == .number)
        if disk.writtenDown?.object == place.object
            || landing.flatMap({ disk.landed($0.file, size: $0.size, in: destinations) }) != nil
        {
            return .remains
        }
        return (try? files.identity(ofFolder: place.folder + "/")) == nil ? .nothing : .folder
    }

    /// Keeps a record, in place of one that is there. What can't be written is left: the transfer goes on regardless.
    func save(_ record: TransferRecord) {
        let path = path(of: record.id)
        queue.async { [files, folder] in
            guard let data = record.kept(in: folder).encoded() else { return }
            try? files.replace(path, by: path + ".new", with: [UInt8](data), synchronizing: false)
        }
    }

    func erase(_ id: String) {
        let path = path(of: id)
        queue.async { [files] in try? files.removeIfThere(path) }
    }

    /// Waits until everything before has been done.
    func settle() async { await queue.perform {} }

    /// Lets somebody go on once everything before has been done.
    func settle(_ waiter: UnsafeContinuation<Void, Never>) {
        queue.async { waiter.resume() }
    }

    /// An id is no part of a path, and the same however its characters are written.
    private func path(of id: String) -> String {
        "\(folder)/\(SHA256.hex(of: id.precomposedStringWithCanonicalMapping.utf8).prefix(32))\(Self.ending)"
    }
}
