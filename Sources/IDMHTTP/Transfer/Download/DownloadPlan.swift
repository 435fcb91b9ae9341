internal import IDMFiles

/// How a download begins, and what is made of what the server says to it. All of it is here, and nothing of it waits.
enum DownloadPlan: Sendable, Hashable {
    /// From the first byte.
    case anew
    /// From a byte on, which isn't the first. What was before it is of the object that the validator stands for.
    case goOn(from: Int64, validator: String, total: Int64?)

    /// What to begin with.
    ///
    /// - Parameters:
    ///   - sidecar: What is known of the part, if there is one.
    ///   - part: The part, if there is one.
    ///   - object: What is to be downloaded.
    ///   - size: How long the caller knows it to be.
    ///   - session: Since when the system runs.
    init(sidecar: DownloadSidecar?, part: FileStatus?, object: String, size: Int64?, session: String?) {
        self = .anew
        guard let sidecar, let part, sidecar.object == object, part.identity.isStill(sidecar.file),
            let validator = sidecar.validator
        else { return }
        let length = sidecar.trusted(of: part, session: session)
        // Longer than the whole: it isn't what the sidecar says.
        if let total = sidecar.total, length > total || size.map({ $0 != total }) == true { return }
        // The last byte is asked for again: what servers say to a request for nothing differs, and what they say to one
        // for a byte tells whether the object is still the same.
        let first = length == sidecar.total || sidecar.total == nil ? length - 1 : length
        guard first > 0 else { return }
        self = .goOn(from: first, validator: validator, total: sidecar.total)
    }

    /// What is asked for beside what the caller asks.
    var headers: ServiceHeaders {
        switch self {
        // Packed, neither lengths nor ranges would be those of the file.
        case .anew: ["Accept-Encoding": "identity"]
        case .goOn(let first, let validator, _):
            ["Accept-Encoding": "identity", "Range": "bytes=\(first)-", "If-Range": validator]
        }
    }

    /// What becomes of a response.
    enum Verdict: Sendable, Hashable {
        /// Its body stands from a byte on. It ends before another one, if that is known, and so does the object.
        case take(from: Int64, end: Int64?, total: Int64?)
        /// It is of no use: the whole is to be asked for.
        case askAnew
        /// The download fails.
        case fail(TransferError)
    }

    /// What becomes of a response that the rules have found to be a success.
    func verdict(on status: Int, _ headers: ServiceHeaders, size: Int64?) -> Verdict {
        // Such an answer tells that there is nothing to be had, and not that the file is empty.
        if status == 204 || status == 205 { return .fail(.noContent) }
        // Also where the rules call that a success: it is about the part, and its body none of the file.
        if status == 416, self != .anew { return .askAnew }
        let verdict = status == 206 ? partial(headers, size: size) : whole(headers)
        guard case .take(_, _, let total?) = verdict, let size, size != total else { return verdict }
        return .fail(.size(expected: size, found: total))
    }

    private func whole(_ headers: ServiceHeaders) -> Verdict {
        // Unpacked on its way, it has another length than the one that is told.
        guard !headers.isPacked else { return .take(from: 0, end: nil, total: nil) }
        let length = headers[.contentLength].flatMap { ContentRange.number($0) }
        return .take(from: 0, end: length, total: length)
    }

    private func partial(_ headers: ServiceHeaders, size: Int64?) -> Verdict {
        var range = headers[.contentRange].flatMap { ContentRange($0) }
        // Of a range and a length that contradict one another nobody knows which is true.
        if let found = range, let length = headers[.contentLength].flatMap({ ContentRange.number($0) }),
            length - 1 != found.last - found.first
        {
            range = nil
        }
        switch self {
        case .anew:
            // Nobody has asked for a part. One that is the whole is as good.
            guard let range, range.first == 0, let total = range.total, range.last == total - 1, !headers.isPacked
            else {
                return .fail(.unaskedPart)
            }
            return .take(from: 0, end: total, total: total)
        case .goOn(let first, let validator, let total):
            guard let range, range.first == first, !headers.isPacked, headers.isOf(validator) else { return .askAnew }
            if let total, let found = range.total, total != found { return .askAnew }
            // Without it nobody knows whether this is the end.
            guard let whole = range.total ?? total ?? size, range.last < whole else { return .askAnew }
            return .take(from: first, end: range.last + 1, total: whole)
        }
    }

    /// Whether a failure is one of the range that was asked for: the whole may still be had.
    func isRefused(_ status: Int?) -> Bool {
        self != .anew && (status == 416 || status == 206)
    }
}

extension ServiceHeaders {
    fileprivate var isPacked: Bool {
        self["Content-Encoding"].map { !["", "identity"].contains($0.asciiLowercased()) } ?? false
    }

    /// Whether a part with this header is of the object that a validator stands for. A server that looks at no If-Range
    /// may send a part of another one.
    fileprivate func isOf(_ validator: String) -> Bool {
        // A part has to carry the tag that the whole would have, and need not carry the date (RFC 9110, 15.3.7). What
        // had no tag that is strong, and has one now, is another.
        if validator.hasPrefix("\"") { return self[.eTag] == validator }
        return self[.lastModified].map { $0 == validator } ?? (self[.eTag]?.hasPrefix("\"") != true)
    }

    /// What tells this state of an object from each other one, byte by byte. Nil if the header holds nothing of the
    /// kind: then a part of it can't be gone on with.
    var strongValidator: String? {
        guard !isPacked else { return nil }
        if let tag = self[.eTag] {
            // One that begins with W/ is weak: what it stands for may differ in its bytes. One of nothing tells
            // nothing.
            let isStrong = tag.utf8.count > 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"")
            return isStrong && tag.utf8.allSatisfy { $0 > 32 && $0 < 127 } ? tag : nil
        }
        // A date is strong if the object has had a second without a change since (RFC 9110, 8.8.2.2).
        guard let text = self[.lastModified], let modified = HTTPDate(text),
            let now = self[.date].flatMap(HTTPDate.init),
            modified.seconds < now.seconds
        else { return nil }
        return text
    }
}

extension ServiceHeaders.Name {
    fileprivate static let contentRange: Self = "Content-Range"
}
