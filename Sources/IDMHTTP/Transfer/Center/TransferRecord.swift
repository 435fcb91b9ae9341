internal import Foundation
internal import IDMFiles

/// What is kept of a download, so that it is there again at the next start. No secrets are: where the request holds
/// any, the record only says so.
struct TransferRecord: Codable, Sendable {
    private static let file = ChecksummedText(format: "idm-transfer", version: 1)

    let id: String
    let priority: TransferPriority
    /// When it got into the line, among those of its center.
    let turn: Int
    /// Whether what has come is to be removed, and nothing else.
    let isCancelled: Bool
    /// Whether what has come is to be removed before it is gone on with.
    let owes: Bool
    private let request: Request
    private var place: Place
    private let existing: ServiceDownload.ExistingFile
    private let size: Int64?
    private let sha256: String?
    private let onCancel: ServiceDownload.CancelledPart
    private let durability: TransferDurability
    private let isComplete: Bool
    /// What the download was about to become when this was written.
    private(set) var landing: Landing?
    /// Where others that had the id have left something.
    private var otherPlaces: [Place]

    /// A file that is about to get its name.
    struct Landing: Codable, Sendable {
        let file: FileIdentity
        /// How long it is. Nil in a record that says nothing of that.
        let size: Int64?
        let suggestedName: String?
        fileprivate var place: Place
        private let existing: ServiceDownload.ExistingFile
        private let sha256: String?

        init(file: FileStatus, suggestedName: String?, of download: ServiceDownload) {
            self.file = file.identity
            size = file.size
            self.suggestedName = suggestedName
            place = Place(download)
            existing = download.existing
            sha256 = download.sha256
        }

        /// What lands: something else may have been asked for by then.
        var download: ServiceDownload? { place.download(existing: existing, sha256: sha256) }
    }

    fileprivate struct Request: Codable, Sendable {
        let method: String
        let path: String
        let link: String?
        /// Whether the link is an address of the caller's own. Nil is false.
        let isAbsolute: Bool?
        /// Nil is true.
        let usesAuthentication: Bool?
        let parameters: [String: String]
        let query: [Pair]
        let listStyle: String
        let headers: [Pair]
        let timeout: Double?
        let deadline: Double?
        let cachePolicy: String?

        struct Pair: Codable, Sendable {
            let name: String
            let values: [String]
            var isList = false
        }
    }

    /// The record of a transfer. Nil for one that doesn't outlive its process.
    init?(
        _ id: String, _ work: TransferJob.Work, _ priority: TransferPriority, turn: Int = 0,
        isCancelled: Bool = false, owes: Bool = false, landing: Landing? = nil, remains: [ServiceDownload] = [],
        redaction own: ServiceRedaction = .standard
    ) {
        let redaction = UnkeptSecrets(own: own)
        let download: ServiceDownload
        switch work {
        case .download(let found): (download, isComplete) = (found, Self.isComplete(found.request, redaction))
        case .incomplete(let found): (download, isComplete) = (found, false)
        case .upload: return nil
        }
        self.id = id
        self.priority = priority
        self.turn = turn
        self.isCancelled = isCancelled
        self.owes = owes
        request = Request(download.request, redaction)
        place = Place(download)
        existing = download.existing
        size = download.size
        sha256 = download.sha256
        onCancel = download.onCancel
        durability = download.durability
        self.landing = landing
        otherPlaces = remains.map { Place($0) }
    }

    /// Reads a record. Nil if it is damaged, or of another version.
    init?(_ data: Data) {
        guard let body = Self.file.opened(data), let record = try? JSONDecoder().decode(Self.self, from: Data(body)),
            record.place.destination != nil, Self.turns.contains(record.turn), record.request.isSound
        else { return nil }
        self = record
    }

    /// As many as nobody makes transfers.
    private static let turns = 0...Int(clamping: Int64(1) << 53)

    func encoded() -> Data? { (try? JSONEncoder().encode(self)).map { Data(Self.file.sealed($0)) } }

    /// The record, as it is written down in a folder of records.
    func kept(in records: String) -> TransferRecord { placed { $0.kept(in: records) } }

    /// The record, with its places where they are by now.
    ///
    /// - Parameter presence: What there is of a download, or of the file that it was about to become.
    func found(in records: String, presence: (ServiceDownload, Landing?) -> Presence) -> TransferRecord {
        placed { place in
            place.found(in: records) { $0.download(existing: existing).map { presence($0, landing) } ?? .nothing }
        }
    }

    private func placed(_ change: (Place) -> Place) -> TransferRecord {
        var record = self
        record.place = change(place)
        if let landing { record.landing?.place = change(landing.place) }
        record.otherPlaces = otherPlaces.map(change)
        return record
    }

    /// What is to be done.
    var work: TransferJob.Work {
        let download = ServiceDownload(
            // Looked at when the record was read.
            request.request, to: place.destination ?? .folder(URL(fileURLWithPath: "/")), existing: existing,
            size: size, sha256: sha256, object: place.object, onCancel: onCancel, durability: durability)
        return isComplete ? .download(download) : .incomplete(download)
    }

    /// What others that had the id may have left.
    var remains: [ServiceDownload] { otherPlaces.compactMap { $0.download() } }

    /// Whether a request can be made of what may be kept of it.
    private static func isComplete(_ request: ServiceRequest, _ redaction: UnkeptSecrets) -> Bool {
        request.body == nil && !request.headers.contains { redaction.isSecret($0) }
            && redaction.open(request.query).count == request.query.items.count
            && !request.pathParameters.contains { redaction.isSecret($0.key, $0.value) }
            && request.link.map { redaction.isOpen($0.absoluteString) } ?? true
    }
}

extension TransferRecord.Request {
    /// Whether its times are ones that can be counted.
    fileprivate var isSound: Bool {
        [timeout, deadline].allSatisfy { $0.map { abs($0) <= 1e12 } ?? true }
    }

    fileprivate init(_ request: ServiceRequest, _ redaction: UnkeptSecrets) {
        method = request.method.name
        path = request.path
        link = request.link.flatMap { redaction.isOpen($0.absoluteString) ? $0.absoluteString : nil }
        isAbsolute = request.isAbsolute ? true : nil
        usesAuthentication = request.usesAuthentication ? nil : false
        parameters = request.pathParameters.filter { !redaction.isSecret($0.key, $0.value) }
        query = redaction.open(request.query).map { item in
            let isList = if case .list = item.content { true } else { false }
            return Pair(name: item.name, values: item.content.values, isList: isList)
        }
        listStyle =
            switch request.query.listStyle {
            case .repeated: "repeated"
            case .brackets: "brackets"
            case .commas: "commas"
            }
        headers = request.headers.filter { !redaction.isSecret($0) }.map {
            Pair(name: $0.name.spelling, values: [$0.value])
        }
        timeout = request.idleTimeout.map { $0 / .seconds(1) }
        deadline = request.totalTimeout.map { $0 / .seconds(1) }
        cachePolicy = request.cachePolicy.map { policy in
            switch policy {
            case .standard: "standard"
            case .reload: "reload"
            case .cacheElseLoad: "cacheElseLoad"
            case .cacheOnly: "cacheOnly"
            }
        }
    }

    fileprivate var request: ServiceRequest {
        var query: ServiceRequest.Query = [:]
        query.listStyle =
            switch listStyle {
            case "brackets": .brackets
            case "commas": .commas
            default: .repeated
            }
        for pair in self.query {
            if pair.isList { query.add(pair.name, pair.values) } else { query.add(pair.name, pair.values.first) }
        }
        var request = ServiceRequest(ServiceRequest.Method(method), path, pathParameters: parameters, query: query)
        for pair in headers { request.headers.add(ServiceHeaders.Name(pair.name), pair.values.first ?? "") }
        request.idleTimeout = timeout.map { Duration.seconds($0) }
        request.totalTimeout = deadline.map { Duration.seconds($0) }
        request.link = link.flatMap { URL(string: $0) }
        request.isAbsolute = isAbsolute ?? false
        request.usesAuthentication = usesAuthentication ?? true
        request.cachePolicy =
            switch cachePolicy {
            case "standard": .standard
            case "reload": .reload
            case "cacheElseLoad": .cacheElseLoad
            case "cacheOnly": .cacheOnly
            default: nil
            }
        return request
    }
}
