internal import Foundation
internal import IDMFiles

/// Where on the disk a download has its part, by one of the names of its folder. Two that have the same would be in the
/// way of each other.
struct TransferPlace: Sendable, Hashable {
    enum Folder: Sendable, Hashable {
        case named(String)
        /// Itself, whatever its name.
        case found(FileIdentity)
    }

    /// What the part is named after.
    enum Origin: Sendable, Hashable {
        case file(String)
        /// In a folder in which the file has no name yet.
        case object(String?)
    }

    let folder: Folder
    let origin: Origin
}

/// Which transfers have something where. A value.
struct TransferPlaces: Sendable {
    private var ids: [TransferPlace: Set<String>] = [:]
    private var places: [String: Set<TransferPlace>] = [:]

    /// Those that have something in one of some places.
    func ids(in places: Set<TransferPlace>) -> Set<String> {
        places.reduce(into: []) { $0.formUnion(ids[$1] ?? []) }
    }

    /// A transfer has something in these places, and in no others.
    mutating func set(_ id: String, _ now: Set<TransferPlace>) {
        let before = places[id] ?? []
        guard before != now else { return }
        places[id] = now.isEmpty ? nil : now
        for place in before.subtracting(now) {
            ids[place]?.remove(id)
            if ids[place]?.isEmpty == true { ids[place] = nil }
        }
        for place in now.subtracting(before) { ids[place, default: []].insert(id) }
    }
}

extension ServiceDownload {
    /// The place of its part, by each name that is known of it.
    var places: Set<TransferPlace> {
        let path = destination.url.standardizedFileURL.path
        let (folder, origin): (String, TransferPlace.Origin) =
            switch destination.kind {
            case .file: (path.folderOfPath, .file(path.lastName))
            case .folder: (path + "/", .object(object))
            }
        let names = [TransferPlace.Folder.named(folder)] + (self.folder.map { [.found($0)] } ?? [])
        return Set(names.map { TransferPlace(folder: $0, origin: origin) })
    }

    /// Whether it goes on with the part of another one.
    func isInPlace(of other: ServiceDownload) -> Bool {
        object == other.object && isInTheWay(of: other)
    }

    /// Whether its part has the name of another one's.
    func isInTheWay(of other: ServiceDownload) -> Bool { !places.isDisjoint(with: other.places) }

    /// The same, in the folder of another one if it has the place of that.
    func located(as other: ServiceDownload) -> ServiceDownload {
        guard isInPlace(of: other) else { return self }
        var download = self
        download.folder = other.folder
        return download
    }
}
