internal import Foundation
internal import IDMFiles

extension TransferRecord {
    /// What there is of a download in a place: anybody's folder says less than what the download has left.
    enum Presence: Comparable {
        case nothing, folder, remains
    }

    /// Where a download has its part.
    ///
    /// An app's container may have another path at the next start, as it has after an update on iOS. What is in it has
    /// moved together then. So a place is written down as the way to it from the folder of the records as well, if that
    /// says anything: if both are in one folder, at whatever depth, that isn't the root.
    struct Place: Codable, Sendable {
        let isFolder: Bool
        /// As it was asked for.
        private var url: String
        /// The way from the folder of the records. Nil if there is none, and in a record that was written without.
        private var way: String?
        let object: String?

        init(_ download: ServiceDownload) {
            isFolder = download.destination.kind == .folder
            url = download.destination.url.absoluteString
            object = download.object
        }

        var destination: ServiceDownload.Destination? {
            URL(string: url).map { isFolder ? .folder($0) : .file($0) }
        }

        /// The download, as far as it takes to find what it has left: nobody makes its request.
        func download(
            existing: ServiceDownload.ExistingFile = .refuse, sha256: String? = nil
        ) -> ServiceDownload? {
            destination.map {
                ServiceDownload(ServiceRequest(.get, ""), to: $0, existing: existing, sha256: sha256, object: object)
            }
        }

        /// The place, as it is written down in a folder of records.
        func kept(in records: String) -> Place {
            var place = self
            place.way = path.flatMap { Self.way(from: records, to: $0) }
            return place
        }

        /// The place, where it is by now: where it has moved to with the folder of the records. Only if there is more
        /// of it where it was asked for have the records moved alone.
        ///
        /// - Parameter presence: What there is in a place.
        func found(in records: String, presence: (Place) -> Presence) -> Place {
            guard let path, let moved = way.flatMap({ Self.path(by: $0, from: records) }), moved != path else {
                return self
            }
            var place = self
            place.url = URL(fileURLWithPath: moved, isDirectory: isFolder).absoluteString
            return presence(place) >= presence(self) ? place : self
        }

        /// The path, if it is one of a file.
        private var path: String? {
            URL(string: url).flatMap { $0.isFileURL ? $0.standardizedFileURL.path : nil }
        }

        private static func way(from folder: String, to path: String) -> String? {
            let (from, to) = (folder.namesInPath, path.namesInPath)
            let common = zip(from, to).prefix { $0 == $1 }.count
            guard common > 0 else { return nil }
            return (repeatElement("..", count: from.count - common) + to.dropFirst(common)).joined(separator: "/")
        }

        /// Nil if the way leads through the root, and so out of everything that may have moved.
        private static func path(by way: String, from folder: String) -> String? {
            let (from, steps) = (folder.namesInPath, way.namesInPath)
            let up = steps.prefix { $0 == ".." }.count
            guard up < from.count else { return nil }
            return "/" + (from.dropLast(up) + steps.dropFirst(up)).joined(separator: "/")
        }
    }
}
