import Foundation
import IDMCore
import IDMHTTP

/// Which part of a resource answers a request.
struct RangedPart {
    let status: Int
    let range: Range<Int>
    let fields: [(name: String, value: String)]

    init(of resource: LoopbackServer.Resource, for headers: ServiceHeaders) {
        var fields = [("Content-Type", resource.contentType)]
        if let tag = resource.eTag { fields.append(("ETag", tag)) }
        if let date = resource.lastModified { fields.append(("Last-Modified", date)) }
        if resource.ranges != .ignored { fields.append(("Accept-Ranges", "bytes")) }
        let whole = 0..<resource.length
        if let tags = headers[.ifNoneMatch], resource.matches(tags) {
            (status, range, self.fields) = (304, 0..<0, fields)
            return
        }
        guard resource.ranges != .ignored, let text = headers["Range"], resource.allowsPart(headers["If-Range"]),
            let asked = Self.range(text, length: resource.length)
        else {
            (status, range, self.fields) = (200, whole, fields)
            return
        }
        guard !asked.isEmpty else {
            fields.append(("Content-Range", "bytes */\(resource.length)"))
            (status, range, self.fields) = (416, 0..<0, fields)
            return
        }
        var part = asked
        var label = asked
        switch resource.ranges {
        case .honored, .ignored: break
        case .shifted(let offset):
            part = asked.shifted(by: offset).clamped(to: whole)
            label = part
        case .mislabelled(let offset): label = asked.shifted(by: offset)
        }
        fields.append(("Content-Range", "bytes \(label.lowerBound)-\(label.upperBound - 1)/\(resource.length)"))
        (status, range, self.fields) = (206, part, fields)
    }

    /// The requested range: empty if the resource has no such part; nil unless it is one part in bytes.
    private static func range(_ text: String, length: Int) -> Range<Int>? {
        guard text.hasPrefix("bytes=") else { return nil }
        let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        switch (Int(ends[0]), Int(ends[1])) {
        case (let first?, let last?) where first <= last: return first..<max(min(last, length - 1) + 1, first)
        case (let first?, nil) where ends[1].isEmpty: return first..<max(length, first)
        case (nil, let count?) where ends[0].isEmpty: return max(length - count, 0)..<length
        default: return nil
        }
    }
}

extension LoopbackServer.Resource {
    fileprivate func matches(_ tags: String) -> Bool {
        tags.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            .contains { $0 == "*" || $0.withoutWeakness == eTag?.withoutWeakness }
    }

    /// Returns whether an If-Range allows a part: only a strong validator does.
    fileprivate func allowsPart(_ condition: String?) -> Bool {
        guard let condition else { return true }
        if condition.hasPrefix("W/") { return false }
        return condition == eTag || condition == lastModified
    }
}

extension String {
    fileprivate var withoutWeakness: Substring { hasPrefix("W/") ? dropFirst(2) : self[...] }
}

extension Range<Int> {
    fileprivate func shifted(by offset: Int) -> Range<Int> {
        lowerBound.moved(by: offset)..<upperBound.moved(by: offset)
    }
}

extension Int {
    /// The place that is so much later, as far as there are any.
    fileprivate func moved(by offset: Int) -> Int {
        Swift.max(addingSaturating(offset), 0)
    }
}
