internal import Foundation
internal import IDMCore
internal import IDMFiles

/// What is known of a part: beside it on the disk, so that another process knows it for a part, and can go on with it.
///
/// It is written before the first byte of the part is, whatever is downloaded: a file that has bytes and no sidecar is
/// somebody else's. From then on the part itself says how far it has come: what a process has written survives its
/// death.
struct DownloadSidecar: Codable, Sendable, Hashable {
    private static let file = ChecksummedText(format: "idm-part", version: 1)

    /// What is downloaded: an address with a digest of its query, or the caller's own name for it.
    var object: String
    /// What the server tells this state of the object by. Nil if nothing does: what is there is a part then, and nobody
    /// goes on with it.
    var validator: String?
    /// How long the object is, if the server has said so.
    var total: Int64?
    /// What the server suggests to call it.
    var suggestedName: String?
    /// The file that the part is. Another one that stands in its place isn't ours.
    var file: FileIdentity
    /// The origin that sent the part, where redirects had led to. Only the same origin's answer continues the part: two
    /// servers may use the same text as a tag.
    var source: String?
    /// How many bytes of the part are on the disk itself, and not on their way there.
    var synchronized: Int64 = 0
    /// Since when the system runs. A part survives the end of a process as a whole, but not that of the system.
    var session: String?
    /// How long the part is that has become whole, and is about to get its name. Nil until then.
    var whole: Int64?

    /// As bytes: a line with the version and a digest of the rest, and the rest.
    func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Self.file.sealed(try encoder.encode(self))
    }

    /// Reads one. Nil if it is damaged, or of another version.
    init?(_ bytes: [UInt8]) {
        guard let body = Self.file.opened(bytes), let sidecar = try? JSONDecoder().decode(Self.self, from: Data(body)),
            sidecar.isSound
        else { return nil }
        self = sidecar
    }

    /// Whether bytes that are none may have been one, of which the system has lost something as it ended.
    static func mayBeTorn(_ bytes: [UInt8]) -> Bool {
        zip(bytes, "idm-part ".utf8).allSatisfy { $0 == $1 || $0 == 0 }
    }

    init(
        object: String, validator: String?, total: Int64?, suggestedName: String?, file: FileIdentity, session: String?
    ) {
        self.object = object
        self.validator = validator
        self.total = total
        self.suggestedName = suggestedName
        self.file = file
        self.session = session
    }

    private var isSound: Bool {
        synchronized >= 0 && (total ?? 0) >= 0
    }

    /// Whether the part is one of an object, and can be told from one of another state of it.
    func isOf(_ object: String) -> Bool { validator != nil && self.object == object }

    /// How many bytes of a part are sure to be what was written to them.
    func trusted(of part: FileStatus, session: String?) -> Int64 {
        hasStayed(part.identity, session) ? part.size : min(part.size, synchronized)
    }

    /// Whether a part that others may read may be the one that was about to get its name. A sidecar may outlive its
    /// part, and a new file may get the part's number, so the length has to be right as well: the whole, but for what
    /// the system may have lost at its end.
    func mayLand(as part: FileStatus, session: String?) -> Bool {
        guard let whole else { return false }
        return hasStayed(part.identity, session) ? part.size == whole : part.size <= whole
    }

    /// Whether the system has run since this was written, with the part's disk connected, and has lost nothing. A disk
    /// that was taken away gets another device.
    private func hasStayed(_ part: FileIdentity, _ session: String?) -> Bool {
        self.session != nil && self.session == session && file.device == part.device
    }

    /// Goes on with a part that was cut to what is trusted of it.
    mutating func take(up part: FileIdentity, session: String?, at length: Int64) {
        synchronized = hasStayed(part, session) ? min(synchronized, length) : length
        (file, self.session, whole) = (part, session, nil)
    }
}
