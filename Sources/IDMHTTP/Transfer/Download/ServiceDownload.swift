public import Foundation
internal import IDMFiles

/// What is to be downloaded, where it goes, and what it has to be.
///
/// ```swift
/// let request = ServiceRequest(.get, "/maps/{name}", pathParameters: ["name": "europe"])
/// var download = ServiceDownload(request, to: .file(map))
/// download.sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
/// ```
public struct ServiceDownload: Sendable {
    /// What is asked of the server.
    public var request: ServiceRequest
    /// Where the file goes.
    public var destination: Destination
    /// What is done if there is a file already where it goes.
    public var existing: ExistingFile
    /// How many bytes the file has to have. Nil for as many as the server sends.
    public var size: Int64?
    /// The SHA-256 digest that the file has to have, in hexadecimal digits. Nil for any.
    public var sha256: String?
    /// What tells the object from others, whatever the address that it is had from. Nil for the address, of which what
    /// signs it doesn't count: parameters of the large stores, and those with `token` or `signature` in their names. An
    /// object whose address is signed anew is still the same one; one that is signed in another way needs a name.
    public var object: String?
    /// What becomes of what has come when the download is cancelled.
    public var onCancel: CancelledPart
    /// What a download survives.
    public var durability: TransferDurability
    /// The folder that its part is in, as it was found on the disk. Nil as long as nobody has looked.
    var folder: FileIdentity?

    /// Makes a download. Nothing is checked before it begins.
    public init(
        _ request: ServiceRequest, to destination: Destination, existing: ExistingFile = .refuse, size: Int64? = nil,
        sha256: String? = nil, object: String? = nil, onCancel: CancelledPart = .remove,
        durability: TransferDurability = .process
    ) {
        self.request = request
        self.destination = destination
        self.existing = existing
        self.size = size
        self.sha256 = sha256
        self.object = object
        self.onCancel = onCancel
        self.durability = durability
    }

    /// Where a file goes.
    public struct Destination: Sendable, Hashable {
        enum Kind: Sendable, Hashable { case file, folder }

        let kind: Kind
        let url: URL

        /// To this place. The folder has to be there.
        public static func file(_ url: URL) -> Destination { Destination(kind: .file, url: url) }

        /// Into this folder, which has to be there, under the name that the server suggests, or else the one that its
        /// address ends with. Whatever that is, it is made the name of a file in this folder.
        public static func folder(_ url: URL) -> Destination { Destination(kind: .folder, url: url) }
    }

    /// What is done about a file that is in the way.
    public enum ExistingFile: String, Sendable, Hashable, Codable {
        /// The download fails, before it begins if it can be known by then.
        case refuse
        /// The file is replaced, in one step, when the download is done.
        case replace
        /// The download gets a number behind its name: `map (2).bin`.
        case number
    }

    /// What becomes of a part whose download is cancelled.
    public enum CancelledPart: String, Sendable, Hashable, Codable {
        /// It is removed.
        case remove
        /// It is kept, and the next download of the object goes on with it.
        case keep
    }
}
