internal import Foundation

/// Where on the disk a download has its part. Two that have the same would be in the way of each other.
struct TransferPlace: Sendable, Hashable {
    let destination: ServiceDownload.Destination.Kind
    let path: String
    /// What the part of a download into a folder is named after. That of another one is named after its file.
    let object: String?
}

/// Which transfers have something where. A value.
struct TransferPlaces: Sendable {
    private var ids: [TransferPlace: Set<String>] = [:]
    private var places: [String: Set<TransferPlace>] = [:]

    /// Those that have something in a place.
    func ids(in place: TransferPlace) -> Set<String> { ids[place] ?? [] }

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
    var place: TransferPlace {
        TransferPlace(
            destination: destination.kind, path: destination.url.standardizedFileURL.path,
            object: destination.kind == .folder ? object : nil)
    }

    /// Whether it goes on with the part of another one.
    func isInPlace(of other: ServiceDownload) -> Bool {
        object == other.object && isInTheWay(of: other)
    }

    /// Whether its part has the name of another one's.
    func isInTheWay(of other: ServiceDownload) -> Bool { place == other.place }
}
