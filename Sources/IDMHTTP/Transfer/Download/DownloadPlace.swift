internal import Foundation
internal import IDMCore
internal import IDMFiles

/// Where a download has its files: all in one folder, so that the last step is a renaming.
struct DownloadPlace: Sendable, Hashable {
    /// The folder of all of them.
    let folder: String
    /// What comes is written here.
    var part: String { "\(folder)/\(partName)" }
    /// What is known of the part.
    var sidecar: String { part + Self.sidecarEnding }
    /// What will be the sidecar.
    var newSidecar: String { sidecar + Self.newEnding }
    /// What tells the object from others.
    let object: String

    private let partName: String
    /// The name of the file, if it is known.
    private let name: FinalName

    private enum FinalName: Sendable, Hashable {
        case given(String)
        /// The server may suggest one, or else it is this one.
        case suggested(else: FileName)
    }

    private static let partEnding = ".part"
    private static let sidecarEnding = ".info"
    private static let newEnding = ".new"

    /// Whether a name is one that a download's own files may have: a server that suggests it could mean those of
    /// another.
    static func isReserved(_ name: String) -> Bool {
        // As bytes: a dot is one, whatever it is joined to.
        var name = name.asciiLowercased().utf8[...]
        func ends(with ending: String) -> Bool { name.suffix(ending.utf8.count).elementsEqual(ending.utf8) }
        for ending in [newEnding, sidecarEnding] where ends(with: ending) { name.removeLast(ending.utf8.count) }
        return ends(with: partEnding)
    }

    init(
        _ download: ServiceDownload, from address: URL, redaction: ServiceRedaction = .standard
    ) throws(TransferError) {
        let url = download.destination.url.standardizedFileURL
        let isFolder = download.destination.kind == .folder
        let parts = url.path.namesInPath
        guard download.destination.url.isFileURL, url.path.isWholePath, !url.path.utf8.contains(0),
            let last = parts.last ?? (isFolder ? "" : nil), isFolder || last.utf8.count <= FileName.longest
        else {
            throw .notAFile(download.destination.url.lastPathComponent.escapedForDescription())
        }
        // What holds a secret in its path is known by a digest alone, and its name says nothing of it.
        let secrets = UnkeptSecrets(own: redaction)
        let isSecret = download.request.pathParameters.contains { secrets.isSecret($0.key, $0.value) }
        object = download.object ?? Self.object(of: address, isSecret: isSecret)
        let stem: String
        if isFolder {
            folder = parts.isEmpty ? "" : url.path
            let own = isSecret ? nil : FileName(suggested: address.lastPathComponent)
            guard let suggested = own ?? FileName(suggested: "download") else { throw .notAFile("download") }
            name = .suggested(else: suggested)
            // Not of the address: where that is secret, whoever goes on may not know it any more.
            stem = "\(Self.name(of: object).prefix(bytes: 200))-\(SHA256.hex(of: object.utf8).prefix(8))"
        } else {
            folder = parts.dropLast().isEmpty ? "" : "/" + parts.dropLast().joined(separator: "/")
            name = .given(last)
            let longest = FileName.longest - Self.partEnding.count - Self.sidecarEnding.count - Self.newEnding.count
            // Cut, it would be the same as that of another one.
            stem =
                last.utf8.count <= longest
                ? last : "\(last.prefix(bytes: longest - 9))-\(SHA256.hex(of: last.utf8).prefix(8))"
        }
        partName = stem + Self.partEnding
    }

    /// Where the file goes: the first of these is tried first. With a number there are thousands.
    func destinations(suggested: String?, isNumbered: Bool) -> some Sequence<String> {
        (1...(isNumbered ? 9_999 : 1)).lazy.map { "\(folder)/\(name(suggested: suggested, number: $0))" }
    }

    private func name(suggested: String?, number: Int) -> String {
        switch name {
        case .given(let name):
            number == 1 ? name : FileName(given: name).numbered(number)
        case .suggested(let other):
            (suggested.flatMap { FileName(suggested: $0) } ?? other).number(number)
        }
    }

    /// What the file is called if the server suggests nothing.
    var ownName: String? {
        if case .suggested(let name) = name { name.text } else { nil }
    }

    /// A name for whoever looks into the folder.
    private static func name(of object: String) -> String {
        let path = String(object.prefix { $0 != "?" })
        guard !path.hasPrefix("sha256:"), let last = path.namesInPath.last else { return "download" }
        return FileName(suggested: last.removingPercentEncoding ?? last)?.text ?? "download"
    }

    /// An address without what isn't the object's: what signs it. What else stands in its query tells objects apart,
    /// and is nobody's business.
    private static func object(of address: URL, isSecret: Bool) -> String {
        guard var parts = URLComponents(url: address, resolvingAgainstBaseURL: true) else { return "" }
        let query = SignedQuery(parts.percentEncodedQuery ?? "").unsigned
        (parts.query, parts.fragment, parts.user, parts.password) = (nil, nil, nil, nil)
        let text = parts.string ?? ""
        return (isSecret ? "sha256:\(SHA256.hex(of: text.utf8))" : text)
            + (query.isEmpty ? "" : "?sha256:\(SHA256.hex(of: query.utf8))")
    }
}

extension FileName {
    fileprivate func number(_ number: Int) -> String {
        number == 1 ? text : numbered(number)
    }
}
